#include "core/learner.h"

#include <algorithm>

namespace berth {

void Learner::claim(Needs& needs, const Recipe& recipe, const DeviceTable& devices) const {
  if (needs.claim != ClaimSource::Learned || needs.gpus == 0) {
    return;
  }
  needs.memory = book_.claim(recipe).value_or(Bytes{});
  if (needs.memory > Bytes{} && devices.impossible(needs)) {
    needs.memory = Bytes{};  // no device has so much: alone it has the best chance
  }
}

std::vector<double> Learner::Group::numbers_of(std::size_t at) const {
  const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(at * width);
  return {first, first + static_cast<std::ptrdiff_t>(width)};
}

void Learner::Group::remove(std::size_t at) {
  jobs[at] = jobs.back();
  jobs.pop_back();
  const std::size_t last = numbers.size() - width;
  std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(last), width,
              numbers.begin() + static_cast<std::ptrdiff_t>(at * width));
  numbers.resize(last);
}

void Learner::job_waits(JobId job, const Recipe& recipe, const Scheduler& scheduler) {
  const Needs& needs = scheduler.needs(*scheduler.find(job));
  if (needs.claim != ClaimSource::Learned || needs.gpus == 0) {
    return;
  }
  Group& group = waiting_[recipe.key];
  group.width = recipe.numbers.size();
  group.jobs.push_back(job);
  group.numbers.insert(group.numbers.end(), recipe.numbers.begin(), recipe.numbers.end());
  // Jobs leave without a word: once in a while, so that it costs little for each.
  constexpr std::size_t kSlack = 10'000;
  if (++entries_ > 2 * scheduler.waiting() + kSlack) {
    drop_those_that_left(scheduler);
  }
}

void Learner::drop_those_that_left(const Scheduler& scheduler) {
  entries_ = 0;
  looked_at_ = 0;
  for (auto& [key, group] : waiting_) {
    for (std::size_t i = group.jobs.size(); i-- > 0;) {
      const Job* job = scheduler.find(group.jobs[i]);
      if (job == nullptr || !job->waiting()) {
        group.remove(i);
      }
    }
    entries_ += group.jobs.size();
  }
  std::erase_if(changed_, [&](const std::string& key) { return waiting_.at(key).jobs.empty(); });
  std::erase_if(waiting_, [](const auto& recipe) { return recipe.second.jobs.empty(); });
}

void Learner::learn(const Recipe& recipe, Bytes peak) {
  if (book_.learn(recipe, peak)) {
    note_change(recipe.key);
  }
}

void Learner::learn_at_least(const Recipe& recipe, Bytes memory) {
  if (book_.learn_at_least(recipe, memory)) {
    note_change(recipe.key);
  }
}

void Learner::forget() {
  book_.forget();
  reconsider();
}

void Learner::reconsider() {
  changed_.clear();
  looked_at_ = 0;
  for (auto& [key, group] : waiting_) {
    group.changed = group.forgot = true;
    changed_.push_back(key);
  }
  std::sort(changed_.begin(), changed_.end());
}

void Learner::note_change(const std::string& key) {
  const auto found = waiting_.find(key);
  if (found == waiting_.end()) {
    return;
  }
  if (!changed_.empty() && changed_.front() == key) {
    looked_at_ = 0;
  } else if (!found->second.changed) {
    found->second.changed = true;
    changed_.push_back(key);
  }
}

std::vector<Reclaim> Learner::reclaims(const Scheduler& scheduler, std::size_t most) {
  std::vector<Reclaim> changes;
  while (!changed_.empty() && most > 0) {
    const std::string& key = changed_.front();
    Group& group = waiting_.at(key);
    for (; looked_at_ < group.jobs.size() && most > 0; --most) {
      const JobId id = group.jobs[looked_at_];
      const Job* job = scheduler.find(id);
      if (job == nullptr || !job->waiting()) {
        group.remove(looked_at_);
        --entries_;
        continue;
      }
      // One that ran out of memory has a claim of its own by now.
      const Bytes claim = book_.claim({key, group.numbers_of(looked_at_)}).value_or(Bytes{});
      if ((claim > Bytes{} || group.forgot) && claim != scheduler.needs(*job).memory &&
          job->traits().memory_retries == 0) {
        changes.push_back({id, claim});
      }
      ++looked_at_;
    }
    if (looked_at_ == group.jobs.size()) {
      looked_at_ = 0;
      group.changed = group.forgot = false;
      if (group.jobs.empty()) {
        waiting_.erase(key);
      }
      changed_.pop_front();
    }
  }
  return changes;
}

}  // namespace berth
