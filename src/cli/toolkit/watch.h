// watch: shows the same screen again and again, as `--watch` asks for.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "cli/toolkit/args.h"

namespace berth {

/// Declares `-w,--watch [INTERVAL]`. Without a value it is `usual`.
void add_watch_option(Args& args, std::optional<Duration>& interval, std::string_view usual);

/// Prints what `draw` returns, again after every interval, until SIGINT or SIGTERM. On a terminal
/// each screen takes the place of the one before, unless `in_place` is false. Returns the exit
/// code; an error of `draw` ends it.
Result<int> watch_screen(Duration interval, bool in_place,
                         const std::function<Result<std::string>()>& draw);

}  // namespace berth
