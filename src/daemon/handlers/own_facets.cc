#include <fmt/format.h>

#include <map>

#include "daemon/handlers/facets.h"
#include "daemon/scans/job_scan.h"
#include "gpu/locks/lock_folder.h"

namespace berth {
namespace {

constexpr std::size_t kOwnJobsAtOnce = 50;
constexpr std::size_t kMostOfOwn = 500;

struct OwnSweep {
  std::uint64_t jobs = 0;
  JobId first;
  JobId last;
  std::map<std::string_view, std::uint64_t> states;
};

struct OwnFacets {
  JobQuery query;
  std::map<std::string, std::uint64_t> projects;
  std::map<std::pair<std::string, std::string>, std::uint64_t> labels;
  std::map<std::pair<std::string, std::string>, OwnSweep> sweeps;  // by name and project
  std::map<uid_t, std::uint64_t> users;
  std::unique_ptr<Responder> reply;

  void add(const JobRecord& job) {
    const JobDescription& description = job.description;
    // No more of each than anybody can choose from: a user's own labels must not fill the memory.
    const auto count = [](auto& all, const auto& key) {
      if (all.size() < kMostOfOwn || all.contains(key)) {
        ++all[key];
      }
    };
    if (!description.project.empty()) {
      count(projects, description.project);
    }
    for (const auto& label : description.labels) {
      count(labels, std::pair<std::string, std::string>(label));
    }
    const auto key = std::pair(description.sweep, description.project);
    if (!description.sweep.empty() && (sweeps.size() < kMostOfOwn || sweeps.contains(key))) {
      OwnSweep& sweep = sweeps[key];
      sweep.first = sweep.jobs++ == 0 ? job.id : sweep.first;
      sweep.last = job.id;
      ++sweep.states[phase_name(job.phase)];
    }
  }

  std::string json() const {
    std::vector<std::string> lists[4];
    for (const auto& [name, jobs] : projects) {
      lists[0].push_back(fmt::format(R"({{"name":{},"jobs":{}}})", quote(name), jobs));
    }
    for (const auto& [user, jobs] : users) {
      lists[1].push_back(
          fmt::format(R"({{"uid":{},"name":{},"jobs":{}}})", user, quote(user_name(user)), jobs));
    }
    for (const auto& [label, jobs] : labels) {
      lists[2].push_back(fmt::format(R"({{"key":{},"value":{},"jobs":{}}})", quote(label.first),
                                     quote(label.second), jobs));
    }
    for (const auto& [key, sweep] : sweeps) {
      std::vector<std::string> states;
      for (const auto& [state, jobs] : sweep.states) {
        states.push_back(fmt::format(R"("{}":{})", state, jobs));
      }
      lists[3].push_back(fmt::format(
          R"({{"name":{},"project":{},"jobs":{},"first":{},"last":{},"states":{{{}}}}})",
          quote(key.first), quote(key.second), sweep.jobs, sweep.first.value, sweep.last.value,
          fmt::join(states, ",")));
    }
    return fmt::format(
        R"({{"version":1,"projects":[{}],"users":[{}],"labels":[{}],"sweeps":[{}]}})",
        fmt::join(lists[0], ","), fmt::join(lists[1], ","), fmt::join(lists[2], ","),
        fmt::join(lists[3], ","));
  }
};

}  // namespace

void list_own_facets(Desk& desk, RoutedRequest asked) {
  auto facets = std::make_shared<OwnFacets>();
  facets->query.filter.user = asked.request.peer.uid;
  facets->query.limit = kOwnJobsAtOnce;
  facets->reply = std::move(asked.reply);
  const auto read_own = [&desk, facets](const Result<void>& counted) {
    if (!counted) {
      return desk.answer(std::move(facets->reply), failed(counted.error()));
    }
    desk.turns.in_pieces([&desk, facets] {
      const Result<JobPage> page = desk.store.list(facets->query);
      if (!page) {
        desk.answer(std::move(facets->reply), failed(page.error()));
        return false;
      }
      for (const JobRecord& job : page->jobs) {
        facets->add(job);
      }
      facets->query.after = page->next;
      if (!page->next) {
        desk.answer(std::move(facets->reply), json(facets->json()));
      }
      return page->next.has_value();
    });
  };
  // How many jobs each user has is no secret.
  scan_jobs(
      desk, {}, [facets](const ScannedJob& job) { ++facets->users[job.user]; }, read_own);
}

}  // namespace berth
