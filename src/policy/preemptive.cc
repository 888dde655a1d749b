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
  kinds_.touch_all(view.queue());
}

void Preemptive::settle(const View& view) {
  kinds_.settle(view.queue(), [&](const Bucket& bucket) {
    const Amount amount = amount_of(bucket.needs, device_memory_);
    return Wants{amount, amount, owed_from(view.job(bucket.jobs.front().job))};
  });
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

/// One walk through all jobs in order, running and waiting; there must be some that wait. What is
/// left of the pool only shrinks on the way, so whoever finds too little finds it to the end.
class Preemptive::Plan {
 public:
  Plan(const Preemptive& policy, const View& view)
      : policy_(policy),
        view_(view),
        room_(pool_size(view.devices())),
        first_kind_(policy.kinds_.in_order().front().key) {}

  void make() {
    find_fitting();
    for (;;) {
      const QueueKey* waiting = next_waiting();
      if (next_ < policy_.runners_.size() && (waiting == nullptr || key_of(runner()) < *waiting)) {
        pass(key_of(runner()));
        keep_or_stop(runner());
        ++next_;
      } else if (waiting == nullptr) {
        pass(std::nullopt);
        return;
      } else {
        pass(*waiting);
        start_or_leave();
      }
    }
  }

  std::vector<Planned>& planned() { return planned_; }
  std::vector<JobId>& stopped() { return stopped_; }
  const std::optional<QueueKey>& owed() const { return owed_; }

 private:
  using Kind = Kinds<Wants>::Entry;
  /// The next job of a kind whose job before it starts.
  struct Later {
    QueueKey key;
    ShapeId shape;
    QueueKeys::const_iterator at;

    /// Puts the smallest on top of a heap.
    friend bool operator<(const Later& a, const Later& b) { return a.key > b.key; }
  };
  struct Fitting {
    Amount room;
    bool takes(const Wants& wants) const { return wants.least <= room; }
  };
  struct Owed {
    Amount room;
    Time now;
    bool takes(const Wants& wants) const { return wants.most > room && wants.owed_from <= now; }
  };

  const Runner& runner() const { return policy_.runners_[next_]; }
  static QueueKey key_of(const Runner& runner) { return {runner.rank, runner.job}; }

  template <class Gap>
  const Kind* first(const std::optional<QueueKey>& after, const Gap& gap) const {
    const auto& kinds = policy_.kinds_.in_order();
    return after ? kinds.first(*after, gap) : kinds.first(gap);
  }

  /// The next kind for which there is room.
  void find_fitting() {
    std::optional<QueueKey> after = fitting_ == nullptr ? at_ : fitting_->key;
    do {
      fitting_ = first(after, Fitting{room_});
      after = fitting_ == nullptr ? after : fitting_->key;
    } while (fitting_ != nullptr && policy_.misfits_.contains(ShapeId{fitting_->item}));
  }

  const QueueKey* next_waiting() const {
    if (later_.empty()) {
      return fitting_ == nullptr ? nullptr : &fitting_->key;
    }
    return fitting_ == nullptr || later_.front().key < fitting_->key ? &later_.front().key
                                                                     : &fitting_->key;
  }

  /// Those up to there find no room, and one of them may be owed it.
  void pass(const std::optional<QueueKey>& until) {
    if (!owed_ && !(until && *until < first_kind_)) {
      const Kind* owed = first(at_, Owed{room_, view_.now()});
      if (owed != nullptr && (!until || owed->key < *until)) {
        owed_ = owed->key;
      }
    }
    at_ = until;
  }

  void take(Amount amount) {
    room_ -= amount;
    if (fitting_ != nullptr && fitting_->measures.least > room_) {
      find_fitting();
    }
  }

  void keep_or_stop(const Runner& runner) {
    if (runner.amount <= room_) {
      take(runner.amount);
    } else {
      stopped_.push_back(runner.job);
    }
  }

  void start_or_leave() {
    if (!later_.empty() && (fitting_ == nullptr || later_.front().key < fitting_->key)) {
      std::pop_heap(later_.begin(), later_.end());
      const Later later = later_.back();
      later_.pop_back();
      const Wants& wants = policy_.kinds_.of(later.shape).measures;
      if (wants.least <= room_) {
        start(later, wants.least);
      } else if (!owed_ && policy_.owed_from(view_.job(later.key.job)) <= view_.now()) {
        owed_ = later.key;
      }
      return;
    }
    const Kind& kind = *fitting_;
    find_fitting();
    const ShapeId shape{kind.item};
    start({kind.key, shape, view_.queue().bucket(shape).jobs.begin()}, kind.measures.least);
  }

  /// The next of its kind may start, too.
  void start(const Later& job, Amount amount) {
    planned_.push_back({job.key.job, job.shape});
    if (const auto next = std::next(job.at); next != view_.queue().bucket(job.shape).jobs.end()) {
      later_.push_back({*next, job.shape, next});
      std::push_heap(later_.begin(), later_.end());
    }
    take(amount);
  }

  const Preemptive& policy_;
  const View& view_;
  Amount room_;
  QueueKey first_kind_;            // nobody waits before that
  std::size_t next_ = 0;           // of the runners
  std::optional<QueueKey> at_;     // how far the walk has come
  const Kind* fitting_ = nullptr;  // the next one for which there is room
  std::vector<Later> later_;       // a heap
  std::optional<QueueKey> owed_;
  std::vector<Planned> planned_;
  std::vector<JobId> stopped_;
};

std::vector<JobId> Preemptive::plan(const View& view) {
  settle(view);
  Plan plan(*this, view);
  plan.make();
  if (plan.planned().empty()) {
    note_owed(plan.owed());
    return {};  // nobody needs what the others have
  }
  if (!plan.stopped().empty()) {
    // Those planned start when there is room, in order. The last is stopped first, so that those
    // put back can keep their order in front of all that wait.
    std::reverse(plan.stopped().begin(), plan.stopped().end());
    return std::move(plan.stopped());
  }
  note_owed(plan.owed());
  planned_ = std::move(plan.planned());
  return {};
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
