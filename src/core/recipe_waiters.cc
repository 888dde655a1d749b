#include "core/recipe_waiters.h"

#include <algorithm>

namespace berth {

std::vector<double> RecipeWaiters::Group::numbers_of(std::size_t at) const {
  const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(at * width);
  return {first, first + static_cast<std::ptrdiff_t>(width)};
}

void RecipeWaiters::Group::remove(std::size_t at) {
  jobs[at] = jobs.back();
  jobs.pop_back();
  const std::size_t last = numbers.size() - width;
  std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(last), width,
              numbers.begin() + static_cast<std::ptrdiff_t>(at * width));
  numbers.resize(last);
}

void RecipeWaiters::add(JobId job, const Recipe& recipe, std::uint32_t user,
                        const Scheduler& scheduler) {
  Group& group = waiting_[{recipe.key, user}];
  group.width = recipe.numbers.size();
  group.jobs.push_back(job);
  group.numbers.insert(group.numbers.end(), recipe.numbers.begin(), recipe.numbers.end());
  // Once in a while, so that it costs little for each.
  constexpr std::size_t kSlack = 10'000;
  if (++entries_ > 2 * scheduler.waiting() + kSlack) {
    drop_those_that_left(scheduler);
  }
}

void RecipeWaiters::move(JobId job, const Recipe* recipe, std::uint32_t user,
                         const Scheduler& scheduler) {
  const Key key = recipe == nullptr ? Key{} : Key{recipe->key, user};
  const auto before = moved_.find(job);
  if (before != moved_.end() && before->second == key) {
    return;
  }
  moved_[job] = key;
  if (recipe != nullptr) {
    add(job, *recipe, user, scheduler);
  }
}

bool RecipeWaiters::is_there(JobId id, const Key& key, const Scheduler& scheduler) const {
  const Job* job = scheduler.find(id);
  const auto moved = moved_.find(id);
  return job != nullptr && job->waiting() && (moved == moved_.end() || moved->second == key);
}

void RecipeWaiters::finish_first() {
  const auto group = waiting_.find(*changed_.begin());
  group->second.looked_at = 0;
  if (group->second.jobs.empty()) {
    waiting_.erase(group);
  }
  changed_.erase(changed_.begin());
}

void RecipeWaiters::drop_those_that_left(const Scheduler& scheduler) {
  entries_ = 0;
  for (auto& [key, group] : waiting_) {
    group.looked_at = 0;
    for (std::size_t i = group.jobs.size(); i-- > 0;) {
      if (!is_there(group.jobs[i], key, scheduler)) {
        group.remove(i);
      }
    }
    entries_ += group.jobs.size();
  }
  std::erase_if(changed_, [&](const Key& key) { return waiting_.at(key).jobs.empty(); });
  std::erase_if(waiting_, [](const auto& group) { return group.second.jobs.empty(); });
  std::erase_if(moved_, [&](const auto& moved) {
    const Job* job = scheduler.find(moved.first);
    return job == nullptr || !job->waiting();
  });
}

void RecipeWaiters::note_change(const std::string& recipe) {
  for (auto group = waiting_.lower_bound({recipe, 0});
       group != waiting_.end() && group->first.first == recipe; ++group) {
    note_change(*group);
  }
}

void RecipeWaiters::note_change(Groups::value_type& group) {
  group.second.looked_at = 0;
  changed_.insert(group.first);
}

}  // namespace berth
