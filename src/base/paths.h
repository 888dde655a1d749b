// Where berth keeps its files. BERTH_HOME moves all of them into one folder; without BERTH_HOME,
// berth uses the XDG folders. Finding a path creates nothing: a caller that writes there calls
// make_folder() first.
#pragma once

#include <string>

#include "base/result.h"

namespace berth {

/// Absolute folders, none of which need exist.
struct Paths {
  std::string state;    // database, job folders, simulated devices
  std::string config;   // settings that the user wrote
  std::string runtime;  // socket and locks; the state folder if the system has no better one

  std::string socket() const { return runtime + "/berth.sock"; }
};

/// Reads the environment. An error when neither the environment nor the user database names a home.
Result<Paths> find_paths();

/// Creates `path` and its missing parents, for this user alone (mode 0700). A folder that already
/// exists keeps its mode.
Result<void> make_folder(const std::string& path);

}  // namespace berth
