// `berth sweep --summarize`: the results of a grid as a table, as gridgen's `summarize` gathers
// them.
#pragma once

#include "cli/commands.h"

namespace berth {

/// `words` are those of `berth sweep`, with --summarize among them.
int summarize_main(Words words);

}  // namespace berth
