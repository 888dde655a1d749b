#include "policy/owner_turns.h"

#include <algorithm>

namespace berth {
namespace {

/// Owners that nothing has happened to.
constexpr int kSettledAtOnce = 8;

}  // namespace

void OwnerTurns::joined(const Job& job) {
  owners_[job.owner].waiting.joined(job.shape);
  changed_.insert(job.owner);
}

void OwnerTurns::left(const Job& job) {
  Owner& owner = owners_.at(job.owner);
  owner.waiting.left(job.shape);
  // An edit may give the job to another owner, who is then listed in its place.
  if (owner.listed && owner.listed->key.job == job.id) {
    all_.erase(owner.listed->key);
    owner.listed.reset();
  }
  changed_.insert(job.owner);
}

bool OwnerTurns::waits(OwnerId owner) const {
  const auto found = owners_.find(owner);
  return found != owners_.end() && !found->second.waiting.empty();
}

bool OwnerTurns::is_first(const Job& job) const {
  return queue_of(job.owner).shapes().front().key.job == job.id;
}

void OwnerTurns::settle(const View& view, SetBack& set_back) {
  ++settlings_;
  for (const OwnerId id : std::exchange(changed_, {})) {
    if (const auto owner = owners_.find(id); owner != owners_.end()) {
      list(id, owner->second, view, set_back);
    }
  }
  for (int left = kSettledAtOnce; left > 0 && !by_age_.empty(); --left) {
    const auto [settled, id] = *by_age_.begin();
    if (settled == settlings_) {
      break;
    }
    list(id, owners_.at(id), view, set_back);
  }
}

void OwnerTurns::unsettle() {
  for (auto owner = owners_.begin(); owner != owners_.end();) {
    const auto next = std::next(owner);
    if (owner->second.waiting.empty()) {
      drop(owner->first, owner->second);
    } else {
      changed_.insert(owner->first);
    }
    owner = next;
  }
}

/// Puts an owner where they belong now.
void OwnerTurns::list(OwnerId id, Owner& owner, const View& view, SetBack& set_back) {
  by_age_.erase({owner.settled, id});
  if (owner.waiting.empty()) {
    return drop(id, owner);
  }
  owner.waiting.settle(view.queue());
  owner.settled = settlings_;
  by_age_.insert({owner.settled, id});
  const QueueKey first = owner.waiting.shapes().front().key;
  owner.set_back = set_back.set_back(view.job(first.job), view);
  const BackfillEntry now{
      {first.rank + owner.set_back, first.job}, id.value, owner.waiting.shapes().least()};
  if (owner.listed == now) {
    return;
  }
  if (owner.listed) {
    all_.erase(owner.listed->key);
  }
  all_.insert(now);
  owner.listed = now;
}

void OwnerTurns::drop(OwnerId id, Owner& owner) {
  if (owner.listed) {
    all_.erase(owner.listed->key);
  }
  by_age_.erase({owner.settled, id});
  owners_.erase(id);
}

void OwnerTurns::Search::put(OwnerId owner, const BackfillQueue::Waiting& job,
                             BackfillQueue::Search more) {
  const QueueKey key{job.key.rank + turns_->owners_.at(owner).set_back, job.key.job};
  pending_.push_back({key, {owner, job}, std::move(more)});
  std::push_heap(pending_.begin(), pending_.end(), stands_behind);
}

OwnerTurns::Found OwnerTurns::Search::hand_out(OwnerId owner, const BackfillQueue::Waiting& job,
                                               BackfillQueue::Search more) {
  last_.emplace(owner, std::move(more));
  return {owner, job};
}

std::optional<OwnerTurns::Found> OwnerTurns::Search::next() {
  if (last_) {
    auto [owner, search] = *std::exchange(last_, std::nullopt);
    if (const auto found = search.next()) {
      put(owner, *found, std::move(search));
    }
  }
  for (;;) {
    const BackfillEntry* owner = met_ ? turns_->all_.first(*met_, gap_) : turns_->all_.first(gap_);
    if (!pending_.empty() && (owner == nullptr || pending_.front().key < owner->key)) {
      std::pop_heap(pending_.begin(), pending_.end(), stands_behind);
      Pending next = std::move(pending_.back());
      pending_.pop_back();
      return hand_out(next.found.owner, next.found.job, std::move(next.more));
    }
    if (owner == nullptr) {
      return std::nullopt;
    }
    met_ = owner->key;
    const OwnerId id{owner->item};
    BackfillQueue::Search search(turns_->owners_.at(id).waiting, *queue_, gap_);
    const auto found = search.next();
    if (found && found->key.job == owner->key.job) {
      return hand_out(id, *found, std::move(search));  // their first, so nobody stands before it
    }
    if (found) {
      put(id, *found, std::move(search));
    }
  }
}

}  // namespace berth
