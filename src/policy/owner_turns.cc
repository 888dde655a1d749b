#include "policy/owner_turns.h"

#include <algorithm>
#include <cmath>

#include "policy/owner_books.h"

namespace berth {
namespace {

/// An owner's place may be so old when nothing has happened to the owner.
constexpr Duration kSettledFor = std::chrono::minutes(1);
constexpr int kSettledAtOnce = 8;

}  // namespace

void OwnerTurns::joined(const Job& job, const Measures& measures) {
  owners_[job.owner].waiting.insert({{job.rank, job.id}, job.shape, measures});
  changed_.insert(job.owner);
}

void OwnerTurns::left(const Job& job) {
  owners_.at(job.owner).waiting.erase({job.rank, job.id}, job.shape);
  changed_.insert(job.owner);
}

void OwnerTurns::started(const Job& job, const Needs& needs, Time now) {
  use_.started(job, needs, now);
  changed_.insert(job.owner);
}

void OwnerTurns::stopped(const Job& job, const Needs& needs, Time now) {
  use_.stopped(job, needs, now);
  changed_.insert(job.owner);
}

void OwnerTurns::serve(const Job& job, Time now) {
  Owner& owner = owners_.at(job.owner);
  if (owner.waiting.shapes().first()->key.job == job.id) {
    owner.served = rank_of(now);
  }
}

void OwnerTurns::settle(const View& view) {
  for (int left = kSettledAtOnce; left > 0 && !by_age_.empty(); --left) {
    const auto [settled, id] = *by_age_.begin();
    if (add_saturating(settled, kSettledFor) > view.now()) {
      break;
    }
    changed_.erase(id);
    list(id, owners_.at(id), view);
  }
  for (const OwnerId id : changed_) {
    if (const auto owner = owners_.find(id); owner != owners_.end()) {
      list(id, owner->second, view);
    }
  }
  changed_.clear();
}

/// Puts an owner where they belong now.
void OwnerTurns::list(OwnerId id, Owner& owner, const View& view) {
  by_age_.erase({owner.settled, id});
  if (owner.waiting.empty()) {
    return drop(id, owner);
  }
  owner.settled = view.now();
  by_age_.insert({owner.settled, id});
  const QueueKey first = owner.waiting.shapes().first()->key;
  const Job& job = view.job(first.job);
  const Rank late = std::max<Rank>(owner.served - (first.rank - order_.raised(job)), 0);
  const double gpus = static_cast<double>(std::max<std::size_t>(view.devices().serving(), 1));
  const double used = use_.of(id, view.now()) / gpus / job.weight;
  owner.set_back = late + std::llround(used * 1e6);
  const BackfillTree::Entry now{
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

void OwnerTurns::Search::add(OwnerId owner, BackfillQueue::Search search) {
  if (const auto found = search.next()) {
    const QueueKey key{found->key.rank + turns_->owners_.at(owner).set_back, found->key.job};
    pending_.push_back({key, {owner, *found}, std::move(search)});
    std::push_heap(pending_.begin(), pending_.end(), stands_behind);
  }
}

std::optional<OwnerTurns::Found> OwnerTurns::Search::next() {
  for (;;) {
    const BackfillTree::Entry* owner =
        met_ ? turns_->all_.first(*met_, gap_) : turns_->all_.first(gap_);
    if (!pending_.empty() && (owner == nullptr || pending_.front().key < owner->key)) {
      std::pop_heap(pending_.begin(), pending_.end(), stands_behind);
      Pending next = std::move(pending_.back());
      pending_.pop_back();
      add(next.found.owner, std::move(next.more));
      return next.found;
    }
    if (owner == nullptr) {
      return std::nullopt;
    }
    met_ = owner->key;
    const OwnerId id{owner->item};
    add(id, BackfillQueue::Search(turns_->owners_.at(id).waiting, gap_));
  }
}

/// First how many owners wait, then these with when they were served, then what was used. All
/// places are found anew by whoever goes on.
PolicyBooks OwnerTurns::close_books() {
  for (const OwnerId id : std::exchange(changed_, {})) {
    if (const auto owner = owners_.find(id);
        owner != owners_.end() && owner->second.waiting.empty()) {
      drop(id, owner->second);
    }
  }
  PolicyBooks books = {static_cast<std::int64_t>(owners_.size())};
  add_owners<1>(books, owners_, [](const Owner& owner) { return std::array{owner.served}; });
  use_.add_to(books);
  for (const auto& [id, owner] : owners_) {
    changed_.insert(id);
  }
  return books;
}

bool OwnerTurns::take_books(std::span<const std::int64_t> books) {
  const std::size_t waiting = 2 * owners_.size();
  if (books.size() < 1 + waiting || books[0] != static_cast<std::int64_t>(owners_.size())) {
    return false;
  }
  std::map<OwnerId, Rank> served;
  if (!take_owners<1>(books.subspan(1, waiting), served, [](auto own) { return own[0]; })) {
    return false;
  }
  for (const auto& [id, when] : served) {
    const auto owner = owners_.find(id);
    if (owner == owners_.end()) {
      return false;
    }
    owner->second.served = when;
  }
  return use_.take(books.subspan(1 + waiting));
}

}  // namespace berth
