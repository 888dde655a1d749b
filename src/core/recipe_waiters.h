// RecipeWaiters: the waiting jobs of each recipe and user, so that they hear when more is known
// about them. A million may wait, so they are visited some at a time, and jobs leave without a
// word.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/recipe.h"
#include "core/scheduler.h"

namespace berth {

class RecipeWaiters {
 public:
  /// A recipe's key, and a user.
  using Key = std::pair<std::string, std::uint32_t>;

  void add(JobId job, const Recipe& recipe, std::uint32_t user, const Scheduler& scheduler);
  /// From here on, the job waits with those of another recipe, or with none (nullptr).
  void move(JobId job, const Recipe* recipe, std::uint32_t user, const Scheduler& scheduler);

  /// More is known about this recipe, whoever its user.
  void note_change(const std::string& recipe);
  /// More is known about jobs of any recipe: the next calls of go_through() look for them.
  void note_change_of_some() { going_through_ = Key{}; }

  /// Whether jobs wait to be visited.
  bool behind() const { return !changed_.empty() || going_through_.has_value(); }
  /// After note_change_of_some(): looks at up to `most` recipes, and has the jobs of those visited
  /// for which `concerns` is true. Returns how many it has looked at.
  template <class Concerns>
  std::size_t go_through(std::size_t most, Concerns concerns) {
    std::size_t looks = 0;
    while (going_through_ && looks < most) {
      const auto group = waiting_.upper_bound(*going_through_);
      if (group == waiting_.end()) {
        going_through_.reset();
        break;
      }
      ++looks;
      going_through_ = group->first;
      if (concerns(group->first.first)) {
        note_change(*group);
      }
    }
    return looks;
  }
  /// Visits waiting jobs about which more is known, with their recipes and users. Looks at no more
  /// than `most` jobs: call it again while behind().
  template <class Visit>
  void visit_changed(const Scheduler& scheduler, std::size_t most, Visit visit) {
    while (!changed_.empty() && most > 0) {
      const Key& key = *changed_.begin();
      Group& group = waiting_.at(key);
      for (; group.looked_at < group.jobs.size() && most > 0; --most) {
        const JobId id = group.jobs[group.looked_at];
        if (!is_there(id, key, scheduler)) {
          group.remove(group.looked_at);
          --entries_;
          continue;
        }
        visit(*scheduler.find(id), Recipe{key.first, group.numbers_of(group.looked_at)},
              key.second);
        ++group.looked_at;
      }
      if (group.looked_at == group.jobs.size()) {
        finish_first();
      }
    }
  }

 private:
  /// Jobs of one recipe have equally many numbers, so one vector holds the numbers of all of them.
  struct Group {
    std::size_t width = 0;
    std::size_t looked_at = 0;  // jobs that have been visited since the last change
    std::vector<JobId> jobs;
    std::vector<double> numbers;

    std::vector<double> numbers_of(std::size_t at) const;
    /// The last job takes its place.
    void remove(std::size_t at);
  };
  using Groups = std::map<Key, Group>;

  void note_change(Groups::value_type& group);
  bool is_there(JobId id, const Key& key, const Scheduler& scheduler) const;
  void finish_first();
  void drop_those_that_left(const Scheduler& scheduler);

  Groups waiting_;
  std::map<JobId, Key> moved_;        // where such a job waits; other entries of it do not count
  std::size_t entries_ = 0;           // in all groups
  std::set<Key> changed_;             // groups with more known than was passed on
  std::optional<Key> going_through_;  // the group that go_through() saw last
};

}  // namespace berth
