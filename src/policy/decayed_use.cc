#include "policy/decayed_use.h"

#include <algorithm>
#include <cmath>

#include "policy/owner_books.h"
#include "policy/pool.h"

namespace berth {
namespace {

double gpus_of(const Needs& needs) { return static_cast<double>(amount_of(needs)) / kWholeShare; }

}  // namespace

DecayedUse::DecayedUse(Duration half_life)
    : decay_(std::log(2.0) / std::max(to_seconds(half_life), 1e-9)) {}

void DecayedUse::started(const Job& job, const Needs& needs, Time now) {
  change(job.owner, gpus_of(needs), now);
}

void DecayedUse::stopped(const Job& job, const Needs& needs, Time now) {
  change(job.owner, -gpus_of(needs), now);
}

double DecayedUse::of(OwnerId owner, Time now) const {
  const auto found = owners_.find(owner);
  return found == owners_.end() ? 0 : at(found->second, now);
}

double DecayedUse::rate(OwnerId owner) const {
  const auto found = owners_.find(owner);
  return found == owners_.end() ? 0 : found->second.rate;
}

double DecayedUse::at(const Use& use, Time now) const {
  const double kept = std::exp(-decay_ * to_seconds(now - use.at));
  return use.used * kept + use.rate * (1 - kept) / decay_;
}

void DecayedUse::change(OwnerId owner, double rate, Time now) {
  Use& use = owners_[owner];
  use.used = at(use, now);
  use.at = now;
  use.rate += rate;
}

void DecayedUse::add_to(PolicyBooks& books) const {
  add_owners<3>(books, owners_, [](const Use& use) {
    return std::array{bits_of(use.used), bits_of(use.rate), use.at.time_since_epoch().count()};
  });
}

bool DecayedUse::take(std::span<const std::int64_t> books) {
  return take_owners<3>(books, owners_, [](auto own) {
    return Use{from_bits(own[0]), from_bits(own[1]), Time(Duration(own[2]))};
  });
}

}  // namespace berth
