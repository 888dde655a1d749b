// The implementation behind Loop, for the files of this folder that need Asio. No header outside
// this folder includes it.
#pragma once

// Boost 1.74's Asio uses std::exchange without including this.
#include <utility>
//
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "api/loop.h"

namespace berth {

/// An object with output that leaves at the end of a batch.
class Flushable {
 public:
  virtual ~Flushable() = default;
  virtual void flush() = 0;
};

struct Loop::Native {
  struct Watch;
  static constexpr auto kNoAlarm = std::chrono::steady_clock::time_point::max();

  /// Calls the item's flush() once, after the next before_wait. The item is shared, because its
  /// owner may drop it in the same batch.
  void flush_later(std::shared_ptr<Flushable> item) { to_flush.push_back(std::move(item)); }

  /// Every call of a batch calls this first, because Asio does not show when it wakes up.
  void woken() {
    if (!awake) {
      awake = std::chrono::steady_clock::now();
    }
  }

  void arm_alarm();
  void run_batch();
  void flush();

  boost::asio::io_context context{1};  // one thread runs it; others may post
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      context.get_executor()};
  boost::asio::steady_timer alarm{context};
  std::chrono::steady_clock::time_point alarm_due = kNoAlarm;
  std::chrono::steady_clock::time_point alarm_armed = kNoAlarm;  // when `alarm` goes off, if ever
  Call alarm_call;
  std::vector<std::shared_ptr<Flushable>> to_flush;
  std::unordered_map<int, std::shared_ptr<Watch>> watches;
  std::optional<std::chrono::steady_clock::time_point> awake;  // when this turn woke up
  bool stopping = false;
};

}  // namespace berth
