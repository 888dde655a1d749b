// Where berth keeps its things. BERTH_HOME moves all of it into one folder; without it the XDG
// folders are used. Finding a path creates nothing: who writes there calls make_folder() first.
#pragma once

#include <string>

#include "base/result.h"

namespace berth {

/// Absolute folders, none of which need exist.
struct Paths {
  std::string state;    // database, job folders, simulated devices
  std::string config;   // settings that the user wrote
  std::string runtime;  // socket and locks; the state folder where the system offers no better

  std::string socket() const { return runtime + "/berth.sock"; }
};

/// Reads the environment; an error where neither it nor the user database names a home.
Result<Paths> find_paths();

/// Creates `path` and what is missing above it, for this user alone (mode 0700). A folder that is
/// there already keeps its mode.
Result<void> make_folder(const std::string& path);

}  // namespace berth
