// Patience: how long a piece of work may go on: until its time is over, or until it is cancelled.
// Long work checks its patience now and then. A plain value, usable from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

namespace berth {

class Patience {
 public:
  using Clock = std::chrono::steady_clock;

  /// Without an end.
  Patience() = default;
  Patience(std::shared_ptr<const std::atomic<bool>> cancelled, Clock::time_point until)
      : cancelled_(std::move(cancelled)), until_(until) {}

  /// The result is no longer wanted.
  bool cancelled() const { return cancelled_ != nullptr && cancelled_->load(); }
  bool over() const {
    return cancelled() || (until_ != Clock::time_point::max() && Clock::now() >= until_);
  }

 private:
  std::shared_ptr<const std::atomic<bool>> cancelled_;
  Clock::time_point until_ = Clock::time_point::max();
};

}  // namespace berth
