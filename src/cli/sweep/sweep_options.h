// The common parts of `berth sweep` and `simple_hypersearch`: the options that describe the points
// of a sweep, and the output of its commands. Used from the main thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "cli/toolkit/args.h"
#include "spec/sweep.h"

namespace berth {

/// Declares -p, --zip, --where, --n-samples and --seed; `spec` must outlive the parsing.
void add_sweep_options(Args& args, SweepSpec& spec, LoneValue lone);

/// A new random seed.
std::uint64_t fresh_seed();

/// Calls `visit` for every point until it returns false. Fails when a sample is empty or too small
/// because too few points satisfy the constraints.
Result<void> for_each_point(const Sweep& sweep, std::uint64_t seed,
                            const std::function<bool(const SweepCursor&)>& visit);

/// The command as `berth run` reads it: a line, or a `<<END` … `END` block when it has several.
std::string as_job_lines(const std::string& command);

/// Writes to standard output. False on failure, so that a long sweep can stop at once.
bool write_out(const std::string& text);

}  // namespace berth
