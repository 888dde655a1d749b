#include "daemon/handlers/facets.h"

#include <algorithm>
#include <map>

#include "daemon/scans/job_scan.h"
#include "gpu/locks/lock_folder.h"

namespace berth {
namespace {

constexpr std::size_t kMostOfEach = 500;
constexpr std::size_t kLabelsAtOnce = 1000;

/// The greatest of these by `rank`, those first, no more than anybody can choose from.
template <class Map, class Rank>
std::vector<typename Map::const_iterator> greatest(const Map& all, Rank rank) {
  std::vector<typename Map::const_iterator> chosen;
  for (auto each = all.begin(); each != all.end(); ++each) {
    chosen.push_back(each);
  }
  const std::size_t count = std::min(chosen.size(), kMostOfEach);
  std::partial_sort(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(count),
                    chosen.end(), [&](const auto& a, const auto& b) {
                      return std::pair(rank(b->second), a->first) <
                             std::pair(rank(a->second), b->first);
                    });
  chosen.resize(count);
  return chosen;
}

}  // namespace

void count_in_sweep(FacetsReply::Sweep& sweep, JobId job, JobPhase phase) {
  sweep.first = sweep.jobs++ == 0 ? job : sweep.first;
  sweep.last = job;
  ++sweep.states[std::string(phase_name(phase))];
}

struct FacetsHandler::Facets {
  std::map<std::int64_t, std::uint64_t> projects;
  std::map<uid_t, std::uint64_t> users;
  std::map<std::int64_t, std::uint64_t> labels;
  std::map<std::pair<std::int64_t, std::int64_t>, FacetsReply::Sweep>
      sweeps;  // by name and project
  LabelCursor label;
  Time begun{};

  void add(const ScannedJob& job) {
    ++users[job.user];
    if (job.project != 0) {
      ++projects[job.project];
    }
    if (job.sweep != 0) {
      count_in_sweep(sweeps[{job.sweep, job.project}], job.id, job.phase);
    }
  }
};

void FacetsHandler::handle(RoutedRequest asked) {
  if (!desk_.privacy.sees_all(asked.request.peer.uid)) {
    return list_own_facets(desk_, std::move(asked));
  }
  if (kept_.fresh(desk_.now())) {
    return desk_.answer(std::move(asked.reply), json(kept_.text));
  }
  waiting_.push_back(std::move(asked.reply));
  if (waiting_.size() > 1) {
    return;
  }
  auto facets = std::make_shared<Facets>();
  facets->begun = desk_.now();
  scan_jobs(
      desk_, {{}, false, false, [this] { return abandoned(); }},
      [facets](const ScannedJob& job) { facets->add(job); },
      [this, facets](const Result<void>& read) {
        if (!read) {
          return finish(*facets, Failure(read.error()));
        }
        count_labels(facets);
      });
}

/// Whoever comes meanwhile gets the answer, so it goes on while one of them is there.
bool FacetsHandler::abandoned() {
  std::erase_if(waiting_, [](const Turns::Reply& reply) { return reply->gone(); });
  return waiting_.empty();
}

void FacetsHandler::count_labels(const std::shared_ptr<Facets>& facets) {
  desk_.turns.in_pieces([this, facets] {
    if (abandoned()) {
      return false;
    }
    const Result<bool> more = desk_.store.walks().labels(
        facets->label, kLabelsAtOnce, [&](std::int64_t label) { ++facets->labels[label]; });
    if (more && *more) {
      return true;
    }
    finish(*facets, more ? Result<std::string>(to_json(reply(*facets))) : Failure(more.error()));
    return false;
  });
}

void FacetsHandler::finish(const Facets& facets, const Result<std::string>& text) {
  if (text) {
    kept_ = {*text, desk_.now(), desk_.now() - facets.begun};
  }
  for (Turns::Reply& reply : std::exchange(waiting_, {})) {
    desk_.answer(std::move(reply), text ? json(*text) : failed(text.error()));
  }
}

/// A text that was forgotten meanwhile is left out.
FacetsReply FacetsHandler::reply(const Facets& facets) const {
  const auto shared = [&](std::int64_t text) {
    return text == 0 ? Result<std::string>("") : desk_.store.walks().shared_text(text);
  };
  const auto by_count = [](std::uint64_t count) { return count; };
  FacetsReply reply;
  for (const auto& each : greatest(facets.projects, by_count)) {
    if (const Result<std::string> name = shared(each->first)) {
      reply.projects.push_back({*name, each->second});
    }
  }
  for (const auto& each : greatest(facets.users, by_count)) {
    reply.users.push_back({each->first, user_name(each->first), each->second});
  }
  for (const auto& each : greatest(facets.labels, by_count)) {
    if (const auto label = desk_.store.walks().label_text(each->first)) {
      reply.labels.push_back({label->first, label->second, each->second});
    }
  }
  for (const auto& each :
       greatest(facets.sweeps, [](const FacetsReply::Sweep& sweep) { return sweep.last; })) {
    const Result<std::string> name = shared(each->first.first);
    const Result<std::string> project = shared(each->first.second);
    if (name && project) {
      FacetsReply::Sweep& sweep = reply.sweeps.emplace_back(each->second);
      sweep.name = *name;
      sweep.project = *project;
    }
  }
  return reply;
}

}  // namespace berth
