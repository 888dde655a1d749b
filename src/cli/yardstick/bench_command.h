// `berth bench`: what a job costs on this machine.
#pragma once

#include "cli/commands.h"

namespace berth {

int bench_main(Words words);

}  // namespace berth
