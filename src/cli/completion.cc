#include "cli/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "api/messages/job.h"
#include "cli/jobs/job_words.h"
#include "cli/jobs/queue_view.h"
#include "cli/toolkit/daemon_client.h"
#include "cli/toolkit/table.h"
#include "core/device_table.h"
#include "policy/policies.h"

namespace berth {
namespace {

template <class Names>
std::string lines_of(const Names& names) {
  std::string text;
  for (const auto& name : names) {
    text += fmt::format("{}\n", name);
  }
  return text;
}

bool takes_jobs(std::string_view command) {
  constexpr std::array<std::string_view, 13> kCommands = {
      "queue", "show",    "logs",  "results", "why",   "wait", "kill",
      "hold",  "release", "pause", "resume",  "rerun", "edit"};
  return std::find(kCommands.begin(), kCommands.end(), command) != kCommands.end();
}

/// Numbers and names of the newest jobs, and words that narrow a choice. A daemon is not started
/// for it.
std::string complete_jobs() {
  std::string text = "@\tyour newest submission\n";
  const Result<JobsReply> jobs = as_message(
      ask_running_daemon("GET", "/v1/jobs?all=1&descending=1&limit=100"), parse_jobs_reply);
  std::set<std::string> words = {"state=failed", "state=queued", "state=running"};
  for (const JobReport& job : jobs ? jobs->jobs : std::vector<JobReport>{}) {
    const JobDescription& told = job.description;
    text += fmt::format("{}\t{} {}\n", job.id.value, job.state,
                        printable(told.name.empty() ? told.command : full_name_of(job)));
    for (const auto& [key, value] :
         {std::pair{"", told.name}, {"project=", told.project}, {"sweep=", told.sweep}}) {
      if (!value.empty() && value.find_first_of(" \t\n") == value.npos) {
        words.insert(key + printable(value));
      }
    }
  }
  return text + lines_of(words);
}

}  // namespace

std::string complete_value(std::string_view command, std::string_view option) {
  if (option == "--policy") {
    return lines_of(live_policy_names());
  }
  if (option == "--placement") {
    return lines_of(placement_names());
  }
  if (option == "--columns") {
    return lines_of(queue_columns());
  }
  if (command == "daemon") {
    return lines_of(
        std::array{"run", "start", "stop", "status", "pause", "resume", "policy", "log"});
  }
  if (command == "recipes") {
    return lines_of(std::array{"list", "show", "forget", "export", "import", "evaluate"});
  }
  return takes_jobs(command) ? complete_jobs() : "";
}

}  // namespace berth
