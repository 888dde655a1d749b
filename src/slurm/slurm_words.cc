#include "slurm/slurm_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace berth {
namespace {

using Words = std::pair<std::string_view, std::string_view>;

constexpr std::array kReasons = {
    Words{"None", "Slurm has not looked at it yet"},
    Words{"Priority", "jobs with a higher priority are ahead of it in the cluster's queue"},
    Words{"Resources", "it waits for free GPUs, CPUs or memory in the cluster"},
    Words{"Dependency", "it waits for another job of the cluster"},
    Words{"DependencyNeverSatisfied", "a job of the cluster that it follows has failed"},
    Words{"BeginTime", "Slurm starts it later: its start time has not come, or it was requeued"},
    Words{"JobHeldUser", "somebody holds it in Slurm (scontrol release lets it go on)"},
    Words{"JobHeldAdmin", "an administrator holds it in Slurm"},
    Words{"JobLaunchFailure", "Slurm could not launch it; an administrator must look"},
    Words{"PartitionDown", "its partition is down"},
    Words{"PartitionInactive", "its partition is inactive"},
    Words{"PartitionNodeLimit", "it asks for more nodes than its partition allows"},
    Words{"PartitionTimeLimit", "its time limit is longer than its partition allows (--timeout)"},
    Words{"ReqNodeNotAvail", "nodes that it could use are down, drained or reserved"},
    Words{"NodeDown", "a node that it needs is down"},
    Words{"BadConstraints", "no node of the cluster can ever serve it"},
    Words{"Reservation", "it waits for its reservation"},
    Words{"Licenses", "it waits for a licence"},
    Words{"InvalidAccount", "its account is not valid (--account)"},
    Words{"InvalidQOS", "its QOS is not valid (--qos)"},
    Words{"JobArrayTaskLimit", "as many jobs of its array run as may run at once"},
    Words{"Cleaning", "Slurm still cleans up after its last start"},
    Words{"Prolog", "the cluster's prolog runs on its node"},
    Words{"SchedDefer", "Slurm puts off its decision"},
    Words{"FrontEndDown", "no front end of the cluster runs"},
    Words{"RaisedSignal", "a signal was sent to it"},
    Words{"AccountNotAllowed", "its account may not use this partition (--account, --partition)"},
    Words{"QOSNotAllowed", "its QOS may not use this partition (--qos, --partition)"},
    Words{"QOSUsageThreshold", "its QOS has used up what it may use"},
};

constexpr std::array kEnds = {
    Words{"NODE_FAIL", "its node failed"},
    Words{"BOOT_FAIL", "its node did not boot"},
    Words{"PREEMPTED", "Slurm took its devices for a job with a higher priority"},
    Words{"TIMEOUT", "it reached the time limit that Slurm had for it"},
    Words{"DEADLINE", "it reached the deadline that Slurm had for it"},
    Words{"OUT_OF_MEMORY",
          "it used more of its node's memory than it may (--slurm-option=--mem=…)"},
    Words{"CANCELLED", "somebody cancelled it in Slurm"},
    Words{"REVOKED", "another cluster of the federation has it"},
};

constexpr std::array<std::string_view, 10> kOver = {
    "BOOT_FAIL", "CANCELLED", "COMPLETED",     "DEADLINE",  "FAILED",
    "NODE_FAIL", "TIMEOUT",   "OUT_OF_MEMORY", "PREEMPTED", "REVOKED"};

/// What a call says that did not reach the controller, or not in time.
constexpr std::array<std::string_view, 12> kOutage = {
    "Unable to contact slurm controller",
    "Socket timed out",
    "Connection refused",
    "Connection timed out",
    "Zero Bytes were transmitted",
    "Transport endpoint",
    "Protocol authentication error",  // munged is down
    "Failed to connect to",
    "Slurm temporarily unable to accept job",
    "temporarily unable",
    "Slurm backup controller in standby mode",
    "Resource temporarily unavailable"};

std::string limit_in_words(std::string_view limit, std::string_view whose) {
  const auto has = [&](std::string_view part) { return limit.find(part) != limit.npos; };
  if (has("PerJob") || has("PerNode") || (has("Min") && !has("Minutes"))) {
    return fmt::format("it asks for what {} does not allow one job: {}; it starts if that changes",
                       whose, limit);
  }
  if (has("Minutes")) {
    return fmt::format("a budget of {} is used up: {}; it starts when there is more", whose, limit);
  }
  return fmt::format("a limit of {} is reached: {}; it starts when others end", whose, limit);
}

}  // namespace

std::string why_pending(std::string_view reason) {
  if (reason.size() > 1 && reason.front() == '(' && reason.back() == ')') {
    reason = reason.substr(1, reason.size() - 2);
  }
  const std::string_view word = reason.substr(0, reason.find_first_of(", "));
  const auto known = std::find_if(kReasons.begin(), kReasons.end(),
                                  [&](const Words& each) { return each.first == word; });
  if (known != kReasons.end()) {
    return std::string(known->second);
  }
  // QOSMaxJobsPerUserLimit, AssocGrpGRESMinutes and the like: there are about a hundred.
  for (const auto& [prefix, whose] : {Words{"QOS", "its QOS"}, Words{"Assoc", "its account"},
                                      Words{"MaxMem", "its memory per CPU"}}) {
    if (word.starts_with(prefix)) {
      return limit_in_words(word, whose);
    }
  }
  return word.empty() ? "Slurm does not say why" : fmt::format("Slurm says {}", reason);
}

std::string end_in_words(std::string_view state) {
  // Only sacct tells who it was, by number.
  if (constexpr std::string_view kBy = "CANCELLED by "; state.starts_with(kBy)) {
    const std::string_view user = state.substr(kBy.size());
    return user == "0" ? "root cancelled it in Slurm"
                       : fmt::format("the user with the number {} cancelled it in Slurm", user);
  }
  const auto known = std::find_if(kEnds.begin(), kEnds.end(),
                                  [&](const Words& each) { return state.starts_with(each.first); });
  return known == kEnds.end() ? "" : std::string(known->second);
}

bool is_over(std::string_view state) {
  return std::any_of(kOver.begin(), kOver.end(),
                     [&](std::string_view each) { return state.starts_with(each); });
}

SlurmProblem problem_of(std::string_view errors) {
  return std::any_of(kOutage.begin(), kOutage.end(),
                     [&](std::string_view each) { return errors.find(each) != errors.npos; })
             ? SlurmProblem::Outage
             : SlurmProblem::Refusal;
}

namespace {

std::string_view without_heads(std::string_view line) {
  for (const std::string_view head : {"sbatch: ", "squeue: ", "scancel: ", "sinfo: ", "scontrol: ",
                                      "error: ", "Batch job submission failed: "}) {
    if (line.starts_with(head)) {
      line.remove_prefix(head.size());
    }
  }
  return line;
}

}  // namespace

std::string last_complaint(std::string_view errors) {
  std::string_view last;
  std::string_view limit;
  while (!errors.empty()) {
    const std::string_view line = without_heads(trim(take_until(errors, '\n')));
    last = line.empty() ? last : line;
    const bool names_limit =
        line.find(' ') == line.npos && (line.starts_with("QOS") || line.starts_with("Assoc"));
    limit = names_limit ? line : limit;
  }
  return limit.empty() || limit == last ? std::string(last) : fmt::format("{}: {}", limit, last);
}

}  // namespace berth
