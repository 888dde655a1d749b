// Runs a text scenario, with its inputs and expectations, against the scheduler. The language is
// described in tests/scenarios/README.md.
#pragma once

#include <string>

namespace berth {

/// Empty when the scenario holds, else "line N: what was wrong".
std::string run_scenario(const std::string& text);

}  // namespace berth
