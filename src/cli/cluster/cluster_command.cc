// `berth cluster`: Slurm for a few boxes, set up and looked after.
#include <fmt/format.h>

#include <array>

#include "base/nearest.h"
#include "cli/cluster/cluster_options.h"
#include "cli/toolkit/args.h"

namespace berth {
namespace {

struct ClusterVerb {
  std::string_view name;
  int (*main)(Words);
};

constexpr std::array kClusterVerbs = {
    ClusterVerb{"init", cluster_init_main},     ClusterVerb{"invite", cluster_invite_main},
    ClusterVerb{"join", cluster_join_main},     ClusterVerb{"status", cluster_status_main},
    ClusterVerb{"doctor", cluster_doctor_main}, ClusterVerb{"leave", cluster_leave_main},
};

Args cluster_args() {
  Args args("berth cluster init | invite | join | status | doctor | leave [options]",
            "Sets up Slurm on a few boxes and looks after it. The result is plain Slurm, from\n"
            "Debian's packages, with files in /etc/slurm that are yours: nothing of berth's is\n"
            "needed to run it. Each verb says more: berth cluster init --help.\n\n"
            "init: makes this box the head of a new cluster.\n"
            "invite: lets other boxes join for half an hour (init has done so once).\n"
            "join HOST: brings this box into the cluster of HOST.\n"
            "status: nodes, GPUs, partitions, what is drained and why.\n"
            "doctor: looks for what is wrong, and says what to do.\n"
            "leave: takes this box out of its cluster.");
  args.example("sudo berth cluster init");
  args.example("sudo berth cluster join head");
  args.example("berth cluster status");
  args.example("sudo berth cluster doctor");
  return args;
}

}  // namespace

int cluster_main(Words words) {
  std::vector<std::string_view> names;
  for (const ClusterVerb& verb : kClusterVerbs) {
    if (!words.empty() && words[0] == verb.name) {
      return verb.main(words.subspan(1));
    }
    names.push_back(verb.name);
  }
  if (!words.empty() && !words[0].starts_with('-')) {
    const std::string_view meant = nearest(words[0], names);
    return report(kClusterName,
                  Error{ErrorCode::Usage,
                        fmt::format("unknown verb '{}'{}", words[0],
                                    meant.empty() ? " (--help lists them)"
                                                  : fmt::format(": did you mean {}?", meant))});
  }
  Args args = cluster_args();
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report(kClusterName, parsed.error());
  }
  if (*parsed) {
    fmt::print(stderr, "{}", args.help());
    return 2;
  }
  return 0;
}

}  // namespace berth
