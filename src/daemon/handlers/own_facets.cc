#include <map>

#include "daemon/handlers/facets.h"
#include "daemon/scans/job_scan.h"
#include "gpu/locks/lock_folder.h"

namespace berth {
namespace {

constexpr std::size_t kOwnJobsAtOnce = 50;
constexpr std::size_t kMostOfOwn = 500;

struct OwnFacets {
  JobQuery query;
  std::map<std::string, std::uint64_t> projects;
  std::map<std::pair<std::string, std::string>, std::uint64_t> labels;
  std::map<std::pair<std::string, std::string>, FacetsReply::Sweep> sweeps;  // by name and project
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
      count_in_sweep(sweeps[key], job.id, job.phase);
    }
  }

  FacetsReply counted() const {
    FacetsReply facets;
    for (const auto& [name, jobs] : projects) {
      facets.projects.push_back({name, jobs});
    }
    for (const auto& [user, jobs] : users) {
      facets.users.push_back({user, user_name(user), jobs});
    }
    for (const auto& [label, jobs] : labels) {
      facets.labels.push_back({label.first, label.second, jobs});
    }
    for (const auto& [key, sweep] : sweeps) {
      facets.sweeps.push_back(sweep);
      facets.sweeps.back().name = key.first;
      facets.sweeps.back().project = key.second;
    }
    return facets;
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
      const Result<JobPage> page = desk.store.jobs().list(facets->query);
      if (!page) {
        desk.answer(std::move(facets->reply), failed(page.error()));
        return false;
      }
      for (const JobRecord& job : page->jobs) {
        facets->add(job);
      }
      facets->query.after = page->next;
      if (!page->next) {
        desk.answer(std::move(facets->reply), json(to_json(facets->counted())));
      }
      return page->next.has_value();
    });
  };
  // How many jobs each user has is no secret.
  scan_jobs(
      desk, {}, [facets](const ScannedJob& job) { ++facets->users[job.user]; }, read_own);
}

}  // namespace berth
