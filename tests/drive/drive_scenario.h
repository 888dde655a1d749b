// Runs a text scenario against the live driver. The language is described in
// tests/drive/scenarios/README.md.
#pragma once

#include <string>

namespace berth {

/// Empty when the scenario holds, else "line N: what was wrong". The scenario is also replayed from
/// its journal.
std::string run_drive_scenario(const std::string& text);

}  // namespace berth
