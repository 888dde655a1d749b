// What the verbs of `berth cluster` share.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/commands.h"
#include "cli/toolkit/args.h"
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

/// Installs these packages, and asks Slurm what it sees of this machine.
Result<void> install_and_ask(Commands& commands, const std::vector<std::string>& missing,
                             BoxFacts& facts);

/// What to type after a boot, where no systemd does it.
void print_start_lines(const std::vector<std::string>& lines);

/// Parses the words of a verb and runs it; prints its error. Returns the exit code.
int run_verb(Args args, Words words, const std::function<Result<int>()>& verb);

/// "2 GPUs (gpu:a100:2)", or that there is none.
std::string gpu_words(const BoxFacts& facts);

}  // namespace berth
