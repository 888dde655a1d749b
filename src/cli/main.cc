// berth: one program; the first word, or the name it was called by, chooses what it does.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/daemon/user_files_command.h"

namespace {

using berth::Words;

struct Command {
  std::string_view name;
  std::string_view summary;  // empty: not listed in the help
  int (*main)(Words);
};

// Those that are listed in the help come first; the others are the names of the tools that berth
// replaces, which work as first word and as the name of the program.
constexpr std::array kCommands = {
    Command{"run", "run commands from a file or standard input on GPUs", berth::run_main},
    Command{"submit", "put jobs into the daemon's queue", berth::submit_main},
    Command{"queue", "show the jobs that run and wait", berth::queue_main},
    Command{"show", "show all that is known of a job", berth::show_main},
    Command{"logs", "print what jobs have written", berth::logs_main},
    Command{"why", "say why a job waits", berth::why_main},
    Command{"wait", "wait until jobs have ended", berth::wait_main},
    Command{"kill", "end jobs", berth::kill_main},
    Command{"hold", "keep queued jobs from starting", berth::hold_main},
    Command{"release", "let held jobs start", berth::release_main},
    Command{"pause", "stop running jobs where they are", berth::pause_main},
    Command{"resume", "let paused jobs go on", berth::resume_main},
    Command{"rerun", "queue jobs again that have ended", berth::rerun_main},
    Command{"edit", "change jobs that wait", berth::edit_main},
    Command{"forget", "delete old records and logs", berth::forget_main},
    Command{"ui", "open the web page", berth::ui_main},
    Command{"daemon", "start, stop and ask the daemon", berth::daemon_main},
    Command{"sweep", "expand a template over parameters: print the commands or run them",
            berth::sweep_main},
    Command{"batch", "run the tasks of a CSV file in batches, packed by memory", berth::batch_main},
    Command{"gpus", "show the devices and what goes on on them", berth::gpus_main},
    Command{"sim", "compare policies on a trace or a made-up workload", berth::sim_main},
    Command{"whatif", "run the daemon's past or present jobs under other policies",
            berth::whatif_main},
    Command{"simjob", "use simulated devices as a training would", berth::simjob_main},
    Command{"selftest", "show that nothing is lost when the daemon is killed",
            berth::selftest_main},
    Command{"simset", "", berth::simset_main},
    Command{"chaosjob", "", berth::chaosjob_main},
    Command{"user-files", "", berth::user_files_main},
    Command{"simple_gpu_scheduler", "", berth::simple_gpu_scheduler_main},
    Command{"simple_hypersearch", "", berth::simple_hypersearch_main},
    Command{"schedule", "", berth::schedule_main},
};

constexpr std::string_view kVersion = BERTH_VERSION;

void print_help() {
  fmt::print(
      "berth {}: runs machine-learning jobs on GPUs\n\nusage: berth COMMAND [options]   "
      "(berth COMMAND --help says more)\n\n",
      kVersion);
  for (const Command& command : kCommands) {
    if (!command.summary.empty()) {
      fmt::print("  {:<8} {}\n", command.name, command.summary);
    }
  }
  fmt::print(
      "\nExamples:\n"
      "  berth run --gpus 0,1 commands.txt       one command per line, one at a time on each GPU\n"
      "  berth sweep 'train.py --lr {{lr}}' -p lr 0.1 0.01 --run\n"
      "  berth submit --gpus 2 python train.py   queue a job; the daemon starts by itself\n"
      "  berth gpus --watch\n"
      "  berth ui                                see and steer everything in a browser\n");
}

const Command* find_command(std::string_view name) {
  for (const Command& command : kCommands) {
    if (command.name == name) {
      return &command;
    }
  }
  return nullptr;
}

/// A closed stdin, stdout or stderr must not become the number of a file that berth opens.
void open_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) {
      // Opened the wrong way round, so that using it is an error and not a silent success.
      (void)::open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
    }
  }
}

/// Output that could not be written is a failure, whatever the command thought of it.
int finish(int status) {
  const bool lost = std::ferror(stdout) != 0 || std::fflush(stdout) != 0;
  if (lost && status == 0) {
    std::fputs("berth: could not write to standard output\n", stderr);
    return 1;
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_descriptors();
  std::vector<std::string_view> words(argv, argv + argc);
  std::string_view name = words.empty() ? "berth" : words[0];
  name.remove_prefix(name.find_last_of('/') + 1);
  if (const Command* command = find_command(name)) {
    return finish(command->main(Words(words).subspan(1)));
  }
  if (words.size() < 2 || words[1] == "--help" || words[1] == "-h" || words[1] == "help") {
    print_help();
    return finish(words.size() < 2 ? 2 : 0);
  }
  if (words[1] == "--version") {
    fmt::print("berth {}\n", kVersion);
    return finish(0);
  }
  if (const Command* command = find_command(words[1])) {
    return finish(command->main(Words(words).subspan(2)));
  }
  fmt::print(stderr, "berth: unknown command '{}' (berth --help lists them)\n", words[1]);
  return 2;
}
