// berth: one program; the first word, or the name it was called by, chooses what it does.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <vector>

#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/daemon/user_files_command.h"
#include "cli/topics.h"
#include "cli/yardstick/bench_command.h"

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
    Command{"results", "compare the jobs of a sweep: parameters, ends, figures from logs",
            berth::results_main},
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
    Command{"gpus", "show the devices and their use", berth::gpus_main},
    Command{"cluster", "set up Slurm on a few boxes, and find what is wrong with it",
            berth::cluster_main},
    Command{"recipes", "see and forget what was learned of jobs", berth::recipes_main},
    Command{"record", "record the use of devices while a command runs", berth::record_main},
    Command{"compare", "run the same tasks under several policies", berth::compare_main},
    Command{"sim", "compare policies on a trace or a generated workload", berth::sim_main},
    Command{"whatif", "run the daemon's past or present jobs under other policies",
            berth::whatif_main},
    Command{"train", "train the learned policy in the simulator", berth::train_main},
    Command{"simjob", "use simulated devices as a training run would", berth::simjob_main},
    Command{"selftest", "show that nothing is lost when the daemon is killed",
            berth::selftest_main},
    Command{"bench", "measure what a job costs on this machine", berth::bench_main},
    Command{"schedule", "wait for free GPUs and run a command on them", berth::schedule_main},
    Command{"simset", "", berth::simset_main},
    Command{"chaosjob", "", berth::chaosjob_main},
    Command{"user-files", "", berth::user_files_main},
    Command{"simple_gpu_scheduler", "", berth::simple_gpu_scheduler_main},
    Command{"simple_hypersearch", "", berth::simple_hypersearch_main},
};

/// Words that people know from other tools, and what they mean here.
struct Alias {
  std::string_view name;
  std::vector<std::string_view> means;
};

const std::vector<Alias>& aliases() {
  static const std::vector<Alias> kAliases = {
      {"ps", {"queue"}},          {"ls", {"queue"}},
      {"list", {"queue"}},        {"status", {"queue"}},
      {"add", {"submit"}},        {"info", {"show"}},
      {"cancel", {"kill"}},       {"log", {"logs"}},
      {"attach", {"logs", "-f"}}, {"top", {"gpus", "--watch"}},
  };
  return kAliases;
}

constexpr std::string_view kVersion = BERTH_VERSION;

void print_help() {
  fmt::print(
      "berth {}: runs machine-learning jobs on GPUs\n\n"
      "usage: berth COMMAND [options]\n\n",
      kVersion);
  for (const Command& command : kCommands) {
    if (!command.summary.empty()) {
      fmt::print("  {:<8}  {}\n", command.name, command.summary);
    }
  }
  fmt::print("\nberth help COMMAND says more, and so does berth help TOPIC:\n\n");
  for (const berth::HelpTopic& topic : berth::help_topics()) {
    fmt::print("  {:<10}  {}\n", topic.name, topic.summary);
  }
  fmt::print(
      "\nExamples:\n"
      "  berth run --gpus 0,1 commands.txt       one command a line, one on each GPU\n"
      "  berth run -- python train.py            one command, on a free GPU\n"
      "  berth sweep 'train.py --lr {{lr}}' -p lr 0.1 0.01 --run\n"
      "  berth submit --gpus 2 python train.py   queue a job; the daemon starts itself\n"
      "  berth queue --watch\n"
      "  berth ui                                see and steer it all in a browser\n");
}

const Command* find_command(std::string_view name) {
  for (const Command& command : kCommands) {
    if (command.name == name) {
      return &command;
    }
  }
  return nullptr;
}

int unknown_word(std::string_view what, std::string_view word) {
  std::vector<std::string_view> known;
  for (const Command& command : kCommands) {
    if (!command.summary.empty()) {
      known.push_back(command.name);
    }
  }
  for (const Alias& alias : aliases()) {
    known.push_back(alias.name);
  }
  const std::string_view meant = berth::nearest(word, known);
  fmt::print(
      stderr, "berth: unknown {} '{}'{}\n", what, word,
      meant.empty() ? " (berth --help lists them)" : fmt::format(": did you mean {}?", meant));
  return 2;
}

/// Puts what an alias means in its place.
std::vector<std::string_view> without_alias(std::vector<std::string_view> words) {
  for (const Alias& alias : aliases()) {
    if (!words.empty() && words[0] == alias.name) {
      words.erase(words.begin());
      words.insert(words.begin(), alias.means.begin(), alias.means.end());
      break;
    }
  }
  return words;
}

/// `berth help`, `berth help COMMAND` and `berth help TOPIC`.
int help(Words words) {
  if (words.empty()) {
    print_help();
    return 0;
  }
  for (const berth::HelpTopic& topic : berth::help_topics()) {
    if (topic.name == words[0]) {
      fmt::print("{}", topic.text);
      return 0;
    }
  }
  const std::vector<std::string_view> plain = without_alias({words.begin(), words.end()});
  const Command* command = find_command(plain[0]);
  constexpr std::array<std::string_view, 1> kHelp = {"--help"};
  return command != nullptr ? command->main(kHelp) : unknown_word("topic", words[0]);
}

/// `berth complete -- WORDS… CURRENT`: what could stand in the place of the last word. Shells call
/// it, see share/completions.
int complete(Words words) {
  if (!words.empty() && words[0] == "--") {
    words = words.subspan(1);
  }
  if (words.size() <= 1) {
    for (const Command& command : kCommands) {
      if (!command.summary.empty()) {
        fmt::print("{}\t{}\n", command.name, command.summary);
      }
    }
    return 0;
  }
  const Command* command = find_command(without_alias({words[0]})[0]);
  if (command == nullptr) {
    return 0;
  }
  if (words.back().starts_with('-')) {
    constexpr std::array<std::string_view, 1> kWords = {"--help-words"};
    return command->main(kWords);
  }
  fmt::print("{}", berth::complete_value(command->name, words[words.size() - 2]));
  return 0;
}

/// The manual page of the program; those of the commands are made by `berth COMMAND --help-man`.
void print_man() {
  fmt::print(
      ".TH berth 1\n.SH NAME\nberth \\- runs machine\\-learning jobs on GPUs\n.SH SYNOPSIS\nberth "
      "COMMAND [options]\n.SH COMMANDS\n");
  for (const Command& command : kCommands) {
    if (!command.summary.empty()) {
      fmt::print(".TP\n.BR berth\\-{} (1)\n{}\n", command.name, command.summary);
    }
  }
  for (const berth::HelpTopic& topic : berth::help_topics()) {
    fmt::print(".SH {}\n.nf\n", topic.name);
    for (std::string_view left = topic.text; !left.empty();) {
      const std::size_t end = std::min(left.find('\n'), left.size());
      fmt::print("\\&{}\n", left.substr(0, end));
      left.remove_prefix(std::min(end + 1, left.size()));
    }
    fmt::print(".fi\n");
  }
}

/// Runs the command that the words name.
int run_command(std::vector<std::string_view> words) {
  const std::string_view first = words[0];
  if (first == "--help" || first == "-h" || first == "help") {
    return help(Words(words).subspan(1));
  }
  if (first == "--version" || first == "-V" || first == "version") {
    fmt::print("berth {}\n", kVersion);
    return 0;
  }
  if (first == "--help-man") {
    print_man();
    return 0;
  }
  if (first == "complete") {
    return complete(Words(words).subspan(1));
  }
  words = without_alias(std::move(words));
  const Command* command = find_command(words[0]);
  return command != nullptr ? command->main(Words(words).subspan(1))
                            : unknown_word("command", first);
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
  if (words.size() < 2) {
    print_help();
    return finish(2);
  }
  return finish(run_command({words.begin() + 1, words.end()}));
}
