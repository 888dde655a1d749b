#include "policy/backfilling.h"

#include <algorithm>

#include "policy/kept_devices.h"
#include "policy/pool.h"

namespace berth {
namespace {

/// How many kinds of job are tried that should have room but find no devices that fit.
constexpr int kMostTries = 256;
/// How many kinds of job that fit are compared.
constexpr int kChoice = 64;

Duration length_of(const Job& job) { return std::min(job.expected_left(), job.limit); }

/// Whether it matters which devices the job gets, or who is on them.
bool is_choosy(const Needs& needs) { return needs.gpus > 0 && !needs.any_whole_device(); }

Amount idle_amount(const View& view) {
  return static_cast<Amount>(view.devices().idle()) * kWholeShare;
}

}  // namespace

bool Backfilling::is_away(OwnerId owner) const { return !runs_.contains(owner); }

void Backfilling::joined(const Job& job, const Needs& needs) {
  if (!turns_.waits(job.owner)) {
    owner_joins(job, is_away(job.owner));
  }
  turns_.joined(job);
  claims_ += claim_of(needs) > Bytes{} ? 1 : 0;
  choosy_ += is_choosy(needs) ? 1 : 0;
}

void Backfilling::left(const Job& job, const Needs& needs) {
  turns_.left(job);
  blocked_ = job.id == blocked_ ? JobId{} : blocked_;
  claims_ -= claim_of(needs) > Bytes{} ? 1 : 0;
  choosy_ -= is_choosy(needs) ? 1 : 0;
}

void Backfilling::started(const Job& job, const Needs& needs, Time now) {
  running_.add(job, needs, now);
  ++runs_[job.owner];
  choosy_ += is_choosy(needs) ? 1 : 0;
  has_started(job, needs, now);
  turns_.touch(job.owner);
}

void Backfilling::stopped(const Job& job, const Needs& needs, Time now) {
  running_.remove(job);
  planned_ = {};
  const auto runs = runs_.find(job.owner);
  if (--runs->second == 0) {
    runs_.erase(runs);
  }
  choosy_ -= is_choosy(needs) ? 1 : 0;
  has_stopped(job, needs, now);
  turns_.touch(job.owner);
}

PolicyBooks Backfilling::close_books() {
  turns_.unsettle();
  planned_ = {};
  PolicyBooks books = {0};
  running_.add_to(books);
  books[0] = static_cast<std::int64_t>(books.size());
  add_notes(books);
  return books;
}

bool Backfilling::take_books(const PolicyBooks& books) {
  const auto all = std::span(books);
  if (all.empty() || all[0] < 1 || static_cast<std::uint64_t>(all[0]) > all.size()) {
    return false;
  }
  const auto notes = static_cast<std::size_t>(all[0]);
  return running_.take(all.subspan(1, notes - 1)) && take_notes(all.subspan(notes));
}

std::optional<Proposal> Backfilling::propose(const View& view) {
  turns_.settle(view, *this);
  blocked_ = {};
  OwnerTurns::Search search(turns_, view.queue(), {});
  while (const auto found = search.next()) {
    if (view.place(found->job.shape, {})) {
      return start(view, *found, search, {}, {});
    }
    if (view.queue().needs(found->job.shape).gpus > 0) {
      blocked_ = found->job.key.job;
      return backfill(view);
    }
  }
  return std::nullopt;
}

std::optional<Reservation> Backfilling::reservation(const View& view) const {
  return blocked_ == JobId{} ? std::nullopt : reserve(view, view.job(blocked_));
}

Time Backfilling::next_look(const View& view) const {
  if (blocked_ == JobId{}) {
    return kNever;
  }
  const Time impatient = add_saturating(view.job(blocked_).submitted, options_.patience);
  return impatient > view.now() ? impatient : kNever;
}

bool Backfilling::impatient(const View& view, const Job& job) const {
  return view.now() >= add_saturating(job.submitted, options_.patience);
}

std::optional<Reservation> Backfilling::reserve(const View& view, const Job& job) const {
  return keep_devices(view, job, impatient(view, job));
}

/// The gap behind a reservation of devices.
Gap Backfilling::gap_behind(const View& view, const Reservation& kept) const {
  const Amount idle = idle_amount(view);
  Gap gap{.room = idle, .spare = idle};
  if (!kept.devices.empty()) {
    const auto idle_ones = std::count_if(kept.devices.begin(), kept.devices.end(),
                                         [&](auto id) { return view.devices().fits(id, Needs{}); });
    gap.spare -= idle_ones * Amount{kWholeShare};
    gap.length = kept.from == kNever ? Duration{} : kept.from - view.now();
  }
  if (claims_ > 0) {
    gap.memory = view.devices().most_room();
    gap.spare_memory = view.devices().most_room(kept.devices);
  }
  return gap;
}

/// The same where all jobs want whole devices and do not care which: only numbers count.
Gap Backfilling::gap_in_pool(const View& view, const Job& first) {
  const Amount idle = idle_amount(view);
  const Amount wanted = amount_of(view.queue().needs(first.shape));
  if (planned_.job != first.id || planned_.at != view.now()) {
    planned_ = {first.id, view.now(), running_.shadow(wanted, idle, view.now())};
  }
  const RunningEnds::Shadow& shadow = planned_.shadow;
  if (shadow.when != kNever) {
    return {.room = idle, .length = shadow.when - view.now(), .spare = shadow.spare};
  }
  const Amount kept = impatient(view, first) ? std::min(wanted, idle) : 0;
  return {.room = idle, .length = kept > 0 ? Duration{} : kForever, .spare = idle - kept};
}

std::optional<Proposal> Backfilling::backfill(const View& view) {
  const Job& first = view.job(blocked_);
  const bool in_pool = choosy_ == 0 && view.devices().serving() == view.devices().size();
  const Reservation kept = in_pool ? Reservation{} : reserve(view, first).value_or(Reservation{});
  const Gap gap = in_pool ? gap_in_pool(view, first) : gap_behind(view, kept);
  OwnerTurns::Search search(turns_, view.queue(), gap);
  for (int tries = kMostTries; tries > 0; --tries) {
    const auto found = search.next();
    if (!found) {
      return std::nullopt;
    }
    if (auto proposal = start(view, *found, search, kept, gap)) {
      planned_.shadow.spare -=
          found->job.measures.length <= gap.length ? 0 : found->job.measures.amount;
      return proposal;
    }
  }
  return std::nullopt;
}

/// Starts this job, or a larger one behind it that may go first for its size.
std::optional<Proposal> Backfilling::start(const View& view, const OwnerTurns::Found& found,
                                           OwnerTurns::Search& search, const Reservation& kept,
                                           const Gap& gap) {
  std::optional<Proposal> best = fit(view, found, kept, gap);
  Bytes claim = options_.largest_first ? view.queue().needs(found.job.shape).memory : Bytes{};
  for (int left = kChoice; best && claim > Bytes{} && left > 0; --left) {
    const auto other = search.next();
    if (!other) {
      break;
    }
    const Bytes wanted = view.queue().needs(other->job.shape).memory;
    if (wanted > claim && together(view, found, *other)) {
      if (auto proposal = fit(view, *other, kept, gap)) {
        best = std::move(proposal);
        claim = wanted;
      }
    }
  }
  if (best) {
    const Job& job = view.job(best->job);
    chosen(job, turns_.is_first(job), view.now());
  }
  return best;
}

bool Backfilling::together(const View& view, const OwnerTurns::Found& a,
                           const OwnerTurns::Found& b) const {
  const Job& first = view.job(a.job.key.job);
  const Job& other = view.job(b.job.key.job);
  return a.owner == b.owner && first.priority == other.priority &&
         (blocked_ != JobId{} ||
          other.submitted <= add_saturating(first.submitted, options_.together));
}

/// This job beside what is kept, or on what is kept one of its kind that will be gone in time.
std::optional<Proposal> Backfilling::fit(const View& view, const OwnerTurns::Found& found,
                                         const Reservation& kept, const Gap& gap) const {
  const ShapeId shape = found.job.shape;
  if (kept.devices.empty()) {
    auto devices = view.place(shape, {});
    return devices ? std::optional(Proposal{found.job.key.job, std::move(*devices)}) : std::nullopt;
  }
  if (auto devices = view.place(shape, kept.devices)) {
    return Proposal{found.job.key.job, std::move(*devices)};
  }
  Gap in_time = gap;
  in_time.spare = -1;
  const auto brief = turns_.queue_of(found.owner).first_of(shape, view.queue(), in_time);
  auto devices = brief ? view.place(shape, {}) : std::nullopt;
  return devices ? std::optional(Proposal{brief->key.job, std::move(*devices)}) : std::nullopt;
}

double expected_use(const Job& job, const Needs& needs) {
  constexpr Duration kTypical = std::chrono::hours(1);  // where nobody can tell
  const Duration length = length_of(job);
  return to_seconds(length == kForever ? kTypical : length) *
         static_cast<double>(amount_of(needs)) / kWholeShare;
}

}  // namespace berth
