#include "daemon/watchdog.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth {

/// Gives the time since the last look to what is current.
void Watchdog::charge() {
  const Time now = clock_();
  if (current_ != kNone) {
    parts_[current_].took += now - since_;
  }
  since_ = now;
}

std::size_t Watchdog::enter(std::string_view name) {
  charge();
  const auto known = std::find_if(parts_.begin(), parts_.end(),
                                  [&](const Part& part) { return part.name == name; });
  const std::size_t outer = current_;
  current_ = static_cast<std::size_t>(known - parts_.begin());
  if (known == parts_.end()) {
    parts_.push_back({name, {}, 0});
  }
  ++parts_[current_].times;
  return outer;
}

void Watchdog::leave(std::size_t outer) {
  charge();
  current_ = outer;
}

Watchdog::Turn Watchdog::sum_up(Duration length, Time ended) const {
  Turn turn{length, ended, parts_};
  std::stable_sort(turn.parts.begin(), turn.parts.end(),
                   [](const Part& a, const Part& b) { return a.took > b.took; });
  return turn;
}

bool Watchdog::end_turn(Duration length) {
  const Time now = since_;  // the last mark's end is near enough, and costs nothing
  const std::int64_t number = now.time_since_epoch() / kSlice;
  Slice& slice = slices_[static_cast<std::size_t>(number) % slices_.size()];
  if (slice.number != number) {
    slice = {number, {}};
  }
  slice.longest = std::max(slice.longest, length);
  if (length > longest_.length) {
    longest_ = sum_up(length, now);
  }
  const bool slow = length >= kSlow;
  if (slow) {
    ++slow_;
    last_ = sum_up(length, now);
  }
  parts_.clear();
  current_ = kNone;
  return slow;
}

Duration Watchdog::longest_lately() const {
  const std::int64_t number = clock_().time_since_epoch() / kSlice;
  Duration longest{};
  for (const Slice& slice : slices_) {
    if (slice.number > number - static_cast<std::int64_t>(slices_.size())) {
      longest = std::max(longest, slice.longest);
    }
  }
  return longest;
}

std::string Watchdog::describe(const Turn& turn) {
  constexpr std::size_t kMost = 5;
  std::vector<std::string> words;
  Duration other = turn.length;
  for (std::size_t i = 0; i < std::min(kMost, turn.parts.size()); ++i) {
    const Part& part = turn.parts[i];
    other -= part.took;
    words.push_back(fmt::format("{} {:.3f} s{}", part.name, to_seconds(part.took),
                                part.times > 1 ? fmt::format(" ({} times)", part.times) : ""));
  }
  words.push_back(fmt::format("other {:.3f} s", to_seconds(std::max(Duration{}, other))));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace berth
