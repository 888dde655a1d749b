// What the verbs of `berth cluster` share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/commands.h"
#include "cluster/box_facts.h"
#include "cluster/commands.h"
#include "cluster/places.h"

namespace berth {

inline constexpr std::string_view kClusterName = "berth cluster";

int cluster_init_main(Words words);
int cluster_invite_main(Words words);
int cluster_join_main(Words words);
int cluster_status_main(Words words);
int cluster_doctor_main(Words words);
int cluster_leave_main(Words words);

/// An error unless this process is root's.
Result<void> need_root(std::string_view verb);

/// Prints what is about to be done, and asks whether to go on. With `yes` it only prints; without a
/// terminal to ask on it is an error that names --yes. False when the user declines.
Result<bool> agree(const std::vector<std::string>& plan, bool yes);

/// Prints a step that was done.
void print_step(std::string_view sentence);

/// What is known of this machine without Slurm: name, GPUs, cgroups, systemd.
Result<BoxFacts> facts_of_box(const std::string& gpus, const Places& places);

/// "2 GPUs (gpu:a100:2)", or that there is none.
std::string gpu_words(const BoxFacts& facts);

}  // namespace berth
