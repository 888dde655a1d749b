#include "daemon/scans/id_runs.h"

#include <fmt/format.h>

#include <iterator>

namespace berth {

void IdRuns::add(JobId id) {
  ++count_;
  // Numbers wrap around as they should: what differs by one does so in either direction.
  const auto step = static_cast<std::int64_t>(
      id.value - (first_ + (length_ - 1) * static_cast<std::uint64_t>(step_)));
  if (length_ > 0 && (step == 1 || step == -1) && (length_ == 1 || step == step_)) {
    step_ = step;
    ++length_;
    return;
  }
  close();
  first_ = id.value;
  length_ = 1;
  step_ = 0;
}

void IdRuns::close() {
  if (length_ > 0) {
    fmt::format_to(std::back_inserter(text_), "{}[{},{},{}]", text_.size() == 1 ? "" : ",", first_,
                   length_, step_);
  }
}

std::string IdRuns::take() {
  close();
  text_ += ']';
  return std::move(text_);
}

}  // namespace berth
