// `berth cluster init`: makes this box the head of a new cluster.
#include <fmt/format.h>

#include <cstdio>

#include "cli/cluster/cluster_options.h"
#include "cli/cluster/invite_words.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/gpus_option.h"
#include "cluster/box_daemons.h"
#include "cluster/conf_texts.h"
#include "cluster/head_setup.h"
#include "cluster/look_at_box.h"

namespace berth {
namespace {

struct InitCommand {
  std::string name = "lab";
  std::string address;
  std::string gpus;
  InviteOptions invite;
  bool no_invite = false;
  bool yes = false;
  bool replace = false;
};

Args init_args(InitCommand& command) {
  Args args("berth cluster init [options]",
            "Makes this box the head of a new Slurm cluster: installs Debian's packages, writes\n"
            "/etc/slurm/slurm.conf, gres.conf and cgroup.conf from what the box has, makes a\n"
            "munge key or takes over the one that is there, starts munged, slurmctld and slurmd,\n"
            "and checks them. It says what it will do and asks before it does. Then it lets other\n"
            "boxes in for half an hour, and prints what to type there.");
  args.value("--name", "NAME", "of the cluster (default: lab)", command.name);
  args.value("--address", "ADDRESS",
             "by which the other boxes reach this one (default: that of the default route)",
             command.address);
  add_gpus_option(args, command.gpus);
  add_invite_options(args, command.invite);
  args.flag("--no-invite", command.no_invite, "let no boxes in yet (berth cluster invite does)");
  args.flag("--replace", command.replace,
            "write over files in /etc/slurm that are there; a copy of each is kept");
  args.flag("-y,--yes", command.yes, "do not ask");
  args.example("sudo berth cluster init");
  args.example("sudo berth cluster init --name lab --address 192.168.1.10 --yes");
  args.example("sudo berth cluster init --gpus sim:4");
  return args;
}

std::vector<std::string> init_plan(const std::vector<std::string>& missing,
                                   const std::vector<std::string>& in_the_way,
                                   const BoxFacts& facts) {
  std::vector<std::string> plan;
  if (!missing.empty()) {
    plan.push_back(fmt::format("install Debian's packages {}", fmt::join(missing, ", ")));
  }
  plan.push_back(
      fmt::format("write /etc/slurm/slurm.conf, gres.conf and cgroup.conf for {} ({}) with {}",
                  facts.name, facts.address, gpu_words(facts)));
  if (!in_the_way.empty()) {
    plan.push_back(
        fmt::format("write over {}, keeping a copy of each", fmt::join(in_the_way, ", ")));
  }
  plan.emplace_back("use /etc/munge/munge.key, or make one");
  plan.push_back(fmt::format("start munged, slurmctld and slurmd{}",
                             facts.systemd ? " by systemd, now and at each boot" : ""));
  return plan;
}

void print_next(const InitCommand& command, const BoxFacts& facts, const BoxDaemons& daemons) {
  print_start_lines(daemons.start_lines(true, {}));
  fmt::print("The cluster {} runs on {}. A first job:\n  srun{} hostname\n", command.name,
             facts.name, facts.gpus.empty() ? "" : " --gpus=1");
}

Result<int> init(InitCommand& command) {
  ProcessCommands commands;
  const Places places;
  if (const Result<void> fine = check_node_name(command.name); !fine) {
    return Failure(fine.error());
  }
  if (const Result<void> root = need_root("init"); !root) {
    return Failure(root.error());
  }
  Result<BoxFacts> facts = facts_of_box(command.gpus, places);
  if (!facts) {
    return Failure(facts.error());
  }
  facts->address = command.address.empty() ? own_address() : command.address;
  const Result<std::vector<std::string>> missing = missing_packages(commands, kHeadPackages);
  if (!missing) {
    return Failure(missing.error());
  }
  if (missing->empty()) {
    if (const Result<void> asked = ask_slurmd(commands, *facts); !asked) {
      return Failure(asked.error());
    }
  }
  const std::vector<std::string> in_the_way = files_in_the_way(places, command.name, *facts);
  if (command.yes && !in_the_way.empty() && !command.replace) {
    return fail(ErrorCode::Refused,
                fmt::format("{} is there already: berth cluster status shows its cluster; "
                            "--replace writes over it and keeps a copy",
                            in_the_way[0]));
  }
  const Result<bool> agreed = agree(init_plan(*missing, in_the_way, *facts), command.yes);
  if (!agreed || !*agreed) {
    return agreed ? Result<int>(1) : Failure(agreed.error());
  }
  if (const Result<void> ready = install_and_ask(commands, *missing, *facts); !ready) {
    return Failure(ready.error());
  }
  if (const Result<void> done = set_up_head(commands, places, command.name, *facts, print_step);
      !done) {
    return Failure(done.error());
  }
  print_next(command, *facts, BoxDaemons(commands, places, facts->systemd));
  return command.no_invite ? Result<int>(0)
                           : invite_boxes(commands, places, facts->address, command.invite);
}

}  // namespace

int cluster_init_main(Words words) {
  InitCommand command;
  return run_verb(init_args(command), words, [&] { return init(command); });
}

}  // namespace berth
