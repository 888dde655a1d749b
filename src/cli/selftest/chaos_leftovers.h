// The processes that a chaos round has started: what is still there when nothing should be, and how
// to be rid of it. They are known by the mark in their environment, "NAME=value".
#pragma once

#include <string>
#include <vector>

#include "cli/selftest/chaos_ledger.h"

namespace berth {

/// Ends the daemon of this home in the usual way; nothing else may be there then.
std::vector<Finding> check_leftovers(const std::string& home, const std::string& mark);

/// Kills every process that has the mark and waits until they are gone: the daemon, launchers,
/// shims and jobs.
void end_everything(const std::string& mark);

}  // namespace berth
