// ConnectionClock: the deadlines and heartbeats of one connection. It is told the time and never
// asks for it.
#pragma once

#include <algorithm>
#include <chrono>

#include "api/http_server.h"

namespace berth {

class ConnectionClock {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  /// How long a refused client has to read the reason.
  static constexpr auto kDrain = std::chrono::seconds(2);

  /// A stranger gets less time than a user. `limits` outlives the clock.
  ConnectionClock(const HttpServer::Limits& limits, bool stranger, Time now)
      : limits_(limits), stranger_(stranger) {
    restart(now);
  }

  /// The client is no stranger any more. This counts from the next restart().
  void meet() { stranger_ = false; }

  /// Call this when something went in or out: the client gets its full time for the next step.
  void restart(Time now) {
    active_ = now;
    deadline_ = now + (stranger_ ? std::min(limits_.idle, limits_.stranger_idle) : limits_.idle);
  }
  /// Call this when everything has been sent and the client is to read it.
  void start_draining(Time now) { deadline_ = now + kDrain; }
  bool is_due(Time now) const { return now >= deadline_; }

  /// When something last went in or out.
  Time active() const { return active_; }

  void start_heartbeat(Time now) { heartbeat_ = now + limits_.heartbeat; }
  /// Whether a heartbeat is due. If so, the next one is due a full interval later.
  bool beats(Time now) {
    if (now < heartbeat_) {
      return false;
    }
    start_heartbeat(now);
    return true;
  }

 private:
  const HttpServer::Limits& limits_;
  bool stranger_;
  Time active_;
  Time deadline_;   // for the client's next step
  Time heartbeat_;  // when the next one is due
};

}  // namespace berth
