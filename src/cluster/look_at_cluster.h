// Collects what the doctor wants to know: of this box, and by short jobs of the other nodes.
#pragma once

#include <string>

#include "cluster/commands.h"
#include "cluster/doctor.h"
#include "cluster/places.h"

namespace berth {

struct DoctorOptions {
  std::string shared_folder = "/home";
  bool jobs = true;  // look at the other nodes by jobs of a second
};

DoctorFacts look_at_cluster(Commands& commands, const Places& places, const DoctorOptions& options);

/// "ann:x:1001:…" lines: names and numbers.
std::map<std::string, long> read_users(std::string_view passwd);

}  // namespace berth
