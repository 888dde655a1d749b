// Runs a text scenario against the scheduler: what happens, and what must come of it. The language
// is described in tests/scenarios/README.md.
#pragma once

#include <string>

namespace berth {

/// Empty when the scenario holds, else "line N: what was wrong".
std::string run_scenario(const std::string& text);

}  // namespace berth
