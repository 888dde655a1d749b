// Watchdog: how long the turns of the loop take, and what they do meanwhile. One thread serves all
// requests, so during a turn of one second no other request is served. Code that does work in a
// turn marks it; a mark costs two looks at the clock. Pure: the clock comes from outside.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace berth {

class Watchdog {
 public:
  using Clock = std::function<Time()>;
  static constexpr Duration kSlow = std::chrono::seconds(1);

  struct Part {
    std::string_view name;
    Duration took{};
    std::uint32_t times = 0;
  };
  struct Turn {
    Duration length{};
    Time ended{};
    std::vector<Part> parts;  // the longest first; unmarked work is in none
  };

  explicit Watchdog(Clock clock) : clock_(std::move(clock)) {}

  /// Ends the marked work when it goes out of scope.
  class Mark {
   public:
    ~Mark() { watchdog_.leave(outer_); }
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;

   private:
    friend Watchdog;
    Mark(Watchdog& watchdog, std::size_t outer) : watchdog_(watchdog), outer_(outer) {}
    Watchdog& watchdog_;
    std::size_t outer_;
  };
  /// Marks what follows as `name`, which must live as long as the watchdog. The time of a mark
  /// within another does not count for the outer one.
  [[nodiscard]] Mark mark(std::string_view name) { return {*this, enter(name)}; }

  /// The turn is over and took `length`. True when that was slow: last() describes it.
  bool end_turn(Duration length);

  const Turn& last() const { return last_; }  // of the slow turns
  const Turn& longest() const { return longest_; }
  /// The longest turn of the last minute, or a little more.
  Duration longest_lately() const;
  std::uint64_t slow_turns() const { return slow_; }

  /// "commit 1.20 s, GET /v1/jobs 0.31 s (3 times)"
  static std::string describe(const Turn& turn);

 private:
  static constexpr Duration kSlice = std::chrono::seconds(10);
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Slice {
    std::int64_t number = -1;
    Duration longest{};
  };

  std::size_t enter(std::string_view name);
  void leave(std::size_t outer);
  void charge();
  Turn sum_up(Duration length, Time ended) const;

  Clock clock_;
  std::vector<Part> parts_;  // of this turn
  std::size_t current_ = kNone;
  Time since_{};  // when current_ began
  Turn last_;
  Turn longest_;
  std::uint64_t slow_ = 0;
  std::array<Slice, 7> slices_;  // of the last minute
};

}  // namespace berth
