// GET /v1/facets: by what jobs can be chosen: the projects, users, labels and sweeps that there
// are.
#include <fmt/format.h>

#include <algorithm>

#include "daemon/daemon.h"
#include "daemon/replies.h"
#include "gpu/locks/lock_folder.h"

namespace berth {
namespace {

constexpr std::size_t kMostOfEach = 500;
constexpr std::size_t kLabelsAtOnce = 1000;

struct SweepFacet {
  std::uint64_t jobs = 0;
  JobId first;
  JobId last;
  PhaseCounts states{};
};

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

std::string states_json(const PhaseCounts& states) {
  std::vector<std::string> fields;
  for (std::size_t i = 0; i < kPhases; ++i) {
    if (states[i] > 0) {
      fields.push_back(fmt::format(R"("{}":{})", phase_name(static_cast<JobPhase>(i)), states[i]));
    }
  }
  return fmt::format("{{{}}}", fmt::join(fields, ","));
}

}  // namespace

struct Daemon::Facets {
  std::map<std::int64_t, std::uint64_t> projects;
  std::map<uid_t, std::uint64_t> users;
  std::map<std::int64_t, std::uint64_t> labels;
  std::map<std::pair<std::int64_t, std::int64_t>, SweepFacet> sweeps;  // by name and project
  LabelCursor label;
  Time begun{};

  void add(const ScannedJob& job) {
    ++users[job.user];
    if (job.project != 0) {
      ++projects[job.project];
    }
    if (job.sweep != 0) {
      SweepFacet& sweep = sweeps[{job.sweep, job.project}];
      sweep.first = sweep.jobs == 0 ? job.id : sweep.first;
      sweep.last = job.id;
      ++sweep.jobs;
      ++sweep.states[static_cast<std::size_t>(job.phase)];
    }
  }
};

/// Whoever asks while they are being counted gets the same answer.
void Daemon::facets(Asked asked) {
  if (!privacy_.sees_all(user_of(asked.request.peer))) {
    return own_facets(std::move(asked));
  }
  if (facets_.fresh(now())) {
    return answer(std::move(asked.reply), json(facets_.text));
  }
  facets_waiting_.push_back(std::move(asked.reply));
  if (facets_waiting_.size() > 1) {
    return;
  }
  auto facets = std::make_shared<Facets>();
  facets->begun = now();
  const auto finish = [this, facets](const Result<std::string>& text) {
    if (text) {
      facets_ = {*text, now(), now() - facets->begun};
    }
    for (Reply& reply : std::exchange(facets_waiting_, {})) {
      answer(std::move(reply), text ? json(*text) : failed(text.error()));
    }
  };
  // Whoever comes meanwhile gets the answer, so it goes on while one of them is there.
  const auto abandoned = [this] {
    std::erase_if(facets_waiting_, [](const Reply& reply) { return reply->gone(); });
    return facets_waiting_.empty();
  };
  scan_jobs(
      {{}, false, false, abandoned}, [facets](const ScannedJob& job) { facets->add(job); },
      [this, facets, finish, abandoned](const Result<void>& read) {
        if (!read) {
          return finish(Failure(read.error()));
        }
        in_pieces([this, facets, finish, abandoned] {
          if (abandoned()) {
            return false;
          }
          const Result<bool> more = store_->walk_labels(
              facets->label, kLabelsAtOnce, [&](std::int64_t label) { ++facets->labels[label]; });
          if (more && *more) {
            return true;
          }
          finish(more ? Result<std::string>(facets_json(*facets)) : Failure(more.error()));
          return false;
        });
      });
}

/// A text that was forgotten meanwhile is left out.
std::string Daemon::facets_json(const Facets& facets) {
  const auto shared = [&](std::int64_t text) {
    return text == 0 ? Result<std::string>("") : store_->shared_text(text);
  };
  const auto by_count = [](std::uint64_t count) { return count; };
  std::vector<std::string> projects;
  for (const auto& each : greatest(facets.projects, by_count)) {
    if (const Result<std::string> name = shared(each->first)) {
      projects.push_back(fmt::format(R"({{"name":{},"jobs":{}}})", quote(*name), each->second));
    }
  }
  std::vector<std::string> users;
  for (const auto& each : greatest(facets.users, by_count)) {
    users.push_back(fmt::format(R"({{"uid":{},"name":{},"jobs":{}}})", each->first,
                                quote(user_name(each->first)), each->second));
  }
  std::vector<std::string> labels;
  for (const auto& each : greatest(facets.labels, by_count)) {
    if (const auto label = store_->label_text(each->first)) {
      labels.push_back(fmt::format(R"({{"key":{},"value":{},"jobs":{}}})", quote(label->first),
                                   quote(label->second), each->second));
    }
  }
  std::vector<std::string> sweeps;
  for (const auto& each :
       greatest(facets.sweeps, [](const SweepFacet& sweep) { return sweep.last; })) {
    const Result<std::string> name = shared(each->first.first);
    const Result<std::string> project = shared(each->first.second);
    if (name && project) {
      const SweepFacet& sweep = each->second;
      sweeps.push_back(
          fmt::format(R"({{"name":{},"project":{},"jobs":{},"first":{},"last":{},"states":{}}})",
                      quote(*name), quote(*project), sweep.jobs, sweep.first.value,
                      sweep.last.value, states_json(sweep.states)));
    }
  }
  return fmt::format(R"({{"version":1,"projects":[{}],"users":[{}],"labels":[{}],"sweeps":[{}]}})",
                     fmt::join(projects, ","), fmt::join(users, ","), fmt::join(labels, ","),
                     fmt::join(sweeps, ","));
}

}  // namespace berth
