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

void Learner::job_waits(JobId job, Recipe recipe, const Scheduler& scheduler) {
  const Needs& needs = scheduler.needs(*scheduler.find(job));
  if (needs.claim != ClaimSource::Learned || needs.gpus == 0) {
    return;
  }
  waiting_[recipe.key].push_back({job, std::move(recipe.numbers)});
  // Jobs leave without a word: once in a while, so that it costs little for each.
  constexpr std::size_t kSlack = 10'000;
  if (++entries_ > 2 * scheduler.waiting() + kSlack) {
    drop_those_that_left(scheduler);
  }
}

void Learner::drop_those_that_left(const Scheduler& scheduler) {
  entries_ = 0;
  looked_at_ = 0;
  for (auto& [key, jobs] : waiting_) {
    std::erase_if(jobs, [&](const Waiting& waiting) {
      const Job* job = scheduler.find(waiting.job);
      return job == nullptr || !job->waiting();
    });
    entries_ += jobs.size();
  }
  std::erase_if(changed_, [&](const std::string& key) { return waiting_.at(key).empty(); });
  std::erase_if(waiting_, [](const auto& recipe) { return recipe.second.empty(); });
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

void Learner::note_change(const std::string& key) {
  if (!waiting_.contains(key)) {
    return;
  }
  if (!changed_.empty() && changed_.front() == key) {
    looked_at_ = 0;
  } else if (std::find(changed_.begin(), changed_.end(), key) == changed_.end()) {
    changed_.push_back(key);
  }
}

std::vector<Reclaim> Learner::reclaims(const Scheduler& scheduler, std::size_t most) {
  std::vector<Reclaim> changes;
  while (!changed_.empty() && most > 0) {
    const std::string& key = changed_.front();
    std::vector<Waiting>& jobs = waiting_.at(key);
    for (; looked_at_ < jobs.size() && most > 0; --most) {
      const Waiting& waiting = jobs[looked_at_];
      const Job* job = scheduler.find(waiting.job);
      if (job == nullptr || !job->waiting()) {
        std::swap(jobs[looked_at_], jobs.back());
        jobs.pop_back();
        --entries_;
        continue;
      }
      ++looked_at_;
      // One that ran out of memory has a claim of its own by now.
      const Bytes claim = book_.claim({key, waiting.numbers}).value_or(Bytes{});
      if (claim > Bytes{} && claim != scheduler.needs(*job).memory && job->memory_retries == 0) {
        changes.push_back({waiting.job, claim});
      }
    }
    if (looked_at_ == jobs.size()) {
      looked_at_ = 0;
      if (jobs.empty()) {
        waiting_.erase(key);
      }
      changed_.pop_front();
    }
  }
  return changes;
}

}  // namespace berth
