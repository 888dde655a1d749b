// `berth cluster join HOST`: brings this box into a cluster.
#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <cstdio>

#include "base/read_file.h"
#include "base/text.h"
#include "cli/cluster/cluster_options.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/gpus_option.h"
#include "cli/toolkit/question.h"
#include "cluster/box_daemons.h"
#include "cluster/conf_texts.h"
#include "cluster/look_at_box.h"
#include "cluster/node_setup.h"

namespace berth {
namespace {

struct JoinCommand {
  std::string host;
  std::string gpus;
  std::string token_file;
  std::int64_t port = kInvitationPort;
  bool yes = false;
};

Args join_args(JoinCommand& command) {
  Args args("berth cluster join HOST [options]",
            "Brings this box into the cluster whose head is HOST: installs Debian's packages,\n"
            "gets the cluster's munge key with the token that berth cluster init or invite has\n"
            "shown on the head, and starts munged and slurmd. slurmd gets its configuration from\n"
            "the head. The token is asked for, or read from standard input where that is no\n"
            "terminal; it is never a word of the command line, which others could see.");
  args.positional("HOST", "name or address of the head", 1, 1,
                  [&](std::string_view word) -> Result<void> {
                    command.host = word;
                    return {};
                  });
  add_gpus_option(args, command.gpus);
  args.value("--token-file", "FILE", "read the token from here", command.token_file);
  args.value("--port", "PORT", "of the invitation (default: 6816)", command.port);
  args.flag("-y,--yes", command.yes, "do not ask");
  args.example("sudo berth cluster join head");
  args.example("sudo berth cluster join 192.168.1.10 --yes --token-file token");
  return args;
}

/// Without echo, as one reads a password.
std::string ask_for_token(const std::string& host) {
  const bool terminal = ::isatty(STDIN_FILENO) != 0;
  termios before{};
  const bool hidden = terminal && ::tcgetattr(STDIN_FILENO, &before) == 0;
  if (hidden) {
    termios quiet = before;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
    fmt::print(stderr, "token that {} has shown: ", host);
  }
  std::string token = read_answer();
  if (hidden) {
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    fmt::print(stderr, "\n");
  }
  return token;
}

Result<std::string> find_token(const JoinCommand& command) {
  if (command.token_file.empty()) {
    return ask_for_token(command.host);
  }
  return read_file(command.token_file, 4096);
}

std::vector<std::string> join_plan(const std::vector<std::string>& missing, const BoxFacts& facts,
                                   const std::string& host) {
  std::vector<std::string> plan;
  if (!missing.empty()) {
    plan.push_back(fmt::format("install Debian's packages {}", fmt::join(missing, ", ")));
  }
  plan.push_back(fmt::format("ask {} to let {} in, with {}", host, facts.name, gpu_words(facts)));
  plan.emplace_back(
      "write the cluster's key to /etc/munge/munge.key, keeping a copy of the former");
  plan.push_back(fmt::format("write slurmd's options to /etc/default/slurmd{}",
                             facts.systemd ? ", and a drop-in for its unit" : ""));
  plan.push_back(fmt::format("start munged and slurmd{}",
                             facts.systemd ? " by systemd, now and at each boot" : ""));
  return plan;
}

/// A box that has its own cluster, or is in one, is not taken from it.
Result<void> check_free(const Places& places) {
  if (::access(places.slurm_conf().c_str(), F_OK) == 0) {
    return fail(ErrorCode::Refused,
                fmt::format("{} is there: this box has a Slurm of its own; move the file away to "
                            "join another",
                            places.slurm_conf()));
  }
  if (!processes_of("slurmd", places).empty()) {
    return fail(ErrorCode::Refused,
                "slurmd runs here: this box is in a cluster already (berth cluster leave)");
  }
  return {};
}

Result<int> join(JoinCommand& command) {
  ProcessCommands commands;
  const Places places;
  if (const Result<void> root = need_root("join"); !root) {
    return Failure(root.error());
  }
  const Result<HostPort> head = parse_host(command.host, static_cast<int>(command.port));
  if (!head) {
    return Failure(head.error());
  }
  if (const Result<void> is_free = check_free(places); !is_free) {
    return Failure(is_free.error());
  }
  Result<BoxFacts> facts = facts_of_box(command.gpus, places);
  if (!facts) {
    return Failure(facts.error());
  }
  const Result<std::vector<std::string>> missing = missing_packages(commands, kNodePackages);
  if (!missing) {
    return Failure(missing.error());
  }
  const Result<bool> agreed = agree(join_plan(*missing, *facts, head->host), command.yes);
  if (!agreed || !*agreed) {
    return agreed ? Result<int>(1) : Failure(agreed.error());
  }
  const Result<std::string> token = find_token(command);
  if (!token) {
    return Failure(token.error());
  }
  if (const Result<void> ready = install_and_ask(commands, *missing, *facts); !ready) {
    return Failure(ready.error());
  }
  const Result<JoinAnswer> answer = ask_to_join(commands, *head, trim(*token), *facts);
  if (!answer) {
    return Failure(answer.error());
  }
  const std::string server = fmt::format("{}:{}", head->host, kSlurmctldPort);
  if (const Result<void> done = set_up_node(commands, places, server, *answer, *facts, print_step);
      !done) {
    return Failure(done.error());
  }
  print_start_lines(BoxDaemons(commands, places, facts->systemd)
                        .start_lines(false, slurmd_words(server, facts->gpus)));
  fmt::print("{} is in the cluster {}. berth cluster status shows it.\n", facts->name,
             answer->cluster);
  return 0;
}

}  // namespace

int cluster_join_main(Words words) {
  JoinCommand command;
  return run_verb(join_args(command), words, [&] { return join(command); });
}

}  // namespace berth
