#include "policy/preemptive.h"

#include <algorithm>

#include "base/check.h"

namespace berth {

void Preemptive::started(const Job& job, const Needs& needs, Time now) {
  Runner runner;
  runner.job = job.id;
  runner.shape = job.shape;
  runner.amount = amount_of(needs, device_memory_);
  runner.gpus = needs.gpus;
  runner.since = now;
  runner.left = job.expected_left();
  runner.done = job.traits().done;
  admit(runner, job, needs);
  runners_.push_back(runner);
}

void Preemptive::stopped(const Job& job, const Needs&, Time) {
  const auto found = std::find_if(runners_.begin(), runners_.end(),
                                  [&](const Runner& runner) { return runner.job == job.id; });
  BERTH_CHECK(found != runners_.end());
  const auto* running = std::get_if<Running>(&job.state);
  if (running == nullptr || running->stopping != Stopping::Preempted) {
    misfits_.clear();
  }
  put_back(*found);
  runners_.erase(found);
}

/// What is a part of a device depends on its memory, which is known when there is a view.
void Preemptive::measure(const View& view) {
  if (view.devices().size() == devices_) {
    return;
  }
  devices_ = view.devices().size();
  device_memory_ = largest_memory(view.devices());
  for (Runner& runner : runners_) {
    runner.amount = amount_of(view.queue().needs(runner.shape), device_memory_);
  }
}

void Preemptive::rank_runners(Time now) {
  decided_at_ = now;
  // Insertion sort: they are nearly in order, but for those that have started since.
  for (std::size_t i = 0; i < runners_.size(); ++i) {
    Runner runner = runners_[i];
    runner.rank = rank_now(runner, now);
    std::size_t to = i;
    while (to > 0 && std::pair(runner.rank, runner.job) <
                         std::pair(runners_[to - 1].rank, runners_[to - 1].job)) {
      runners_[to] = runners_[to - 1];
      --to;
    }
    runners_[to] = runner;
  }
}

std::vector<JobId> Preemptive::preempt(const View& view) {
  planned_.clear();
  new_misfit_ = false;
  measure(view);
  rank_runners(view.now());
  std::vector<JobId> stopped = view.queue().size() == 0 ? std::vector<JobId>{} : plan(view);
  making_room_ = !stopped.empty();
  return stopped;
}

namespace {

/// Puts the smallest on top of a heap.
constexpr auto kLater = [](const auto& a, const auto& b) { return a.key > b.key; };

}  // namespace

/// The candidate starts: the next of its bucket may, too.
void Preemptive::advance(const View& view, const Candidate& candidate) {
  const auto next = std::next(candidate.at);
  if (next != view.queue().bucket(candidate.shape).jobs.end()) {
    later_.push_back({*next, candidate.shape, next});
    std::push_heap(later_.begin(), later_.end(), kLater);
  }
}

std::vector<JobId> Preemptive::plan(const View& view) {
  std::vector<JobId> stopped;
  std::optional<QueueKey> owed;
  Amount room = pool_size(view.devices());
  std::size_t next_runner = 0;
  const auto keep_or_stop = [&](const Runner& runner) {
    if (runner.amount <= room) {
      room -= runner.amount;
    } else {
      stopped.push_back(runner.job);
    }
  };
  later_.clear();
  auto head = view.queue().heads().begin();
  const auto heads_end = view.queue().heads().end();
  while (head != heads_end || !later_.empty()) {
    Candidate candidate;
    if (later_.empty() || (head != heads_end && head->first < later_.front().key)) {
      candidate = {head->first, head->shape, view.queue().bucket(head->shape).jobs.begin()};
      ++head;
    } else {
      std::pop_heap(later_.begin(), later_.end(), kLater);
      candidate = later_.back();
      later_.pop_back();
    }
    while (next_runner < runners_.size() &&
           QueueKey{runners_[next_runner].rank, runners_[next_runner].job} < candidate.key) {
      keep_or_stop(runners_[next_runner++]);
    }
    // One that finds no room leaves none for its bucket: room only shrinks from here on.
    const Amount amount = amount_of(view.queue().needs(candidate.shape), device_memory_);
    if (amount <= room && !misfits_.contains(candidate.shape)) {
      room -= amount;
      planned_.push_back({candidate.key.job, candidate.shape});
      advance(view, candidate);
    } else if (!owed && amount > room && is_owed(view.job(candidate.key.job), view.now())) {
      owed = candidate.key;
    }
  }
  if (planned_.empty()) {
    note_owed(owed);
    return {};  // nobody needs what the others have
  }
  while (next_runner < runners_.size()) {
    keep_or_stop(runners_[next_runner++]);
  }
  if (stopped.empty()) {
    note_owed(owed);
  } else {
    planned_.clear();  // for when there is room: they start in order
  }
  // The last first, so that those put back can keep their order in front of all that wait.
  std::reverse(stopped.begin(), stopped.end());
  return stopped;
}

/// All that are put back must wait by now: they may be owed, too.
void Preemptive::note_owed(const std::optional<QueueKey>& first) {
  first_owed(first);
  for (Runner& runner : runners_) {
    if (first && *first < QueueKey{runner.rank, runner.job}) {
      stays_behind(runner);
    }
  }
}

std::optional<Proposal> Preemptive::propose(const View& view) {
  std::size_t waiting = 0;
  std::optional<Proposal> proposal;
  for (std::size_t i = 0; i < planned_.size(); ++i) {
    if (!proposal) {
      if (auto devices = view.place(planned_[i].shape, {})) {
        proposal = Proposal{planned_[i].job, std::move(*devices)};
        continue;
      }
      if (!making_room_) {
        misfits_.insert(planned_[i].shape);
        new_misfit_ = true;
      }
    }
    planned_[waiting++] = planned_[i];
  }
  planned_.resize(waiting);
  return proposal;
}

Time Preemptive::next_look(const View& view) const {
  return new_misfit_ ? view.now() : next_change();  // others may have what it could not use
}

}  // namespace berth
