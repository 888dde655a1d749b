#include "api/loop.h"

#include <algorithm>
#include <chrono>

#include "api/loop_native.h"
#include "base/check.h"

namespace berth {
namespace {

using boost::system::error_code;
using Descriptor = boost::asio::posix::stream_descriptor;

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBatch = 256;
/// Calls may be long ones: what a batch has answered must not wait for all the others.
constexpr auto kBatchTime = std::chrono::milliseconds(5);
/// Far enough to be never, near enough not to overflow the clock.
constexpr Duration kLongest = std::chrono::hours(24 * 365);

}  // namespace

/// Shared between the table and the pending wait, which may complete after unwatch().
struct Loop::Native::Watch : std::enable_shared_from_this<Watch> {
  Watch(Native& native, Call call)
      : loop(native), descriptor(native.context), on_readable(std::move(call)) {}

  void wait() {
    descriptor.async_wait(Descriptor::wait_read, [self = shared_from_this()](error_code error) {
      if (error || !self->live) {
        return;
      }
      self->loop.woken();
      self->on_readable();
      if (self->live) {
        self->wait();
      }
    });
  }

  Native& loop;
  Descriptor descriptor;
  Call on_readable;
  bool live = true;
};

void Loop::Native::run_batch() {
  if (!to_flush.empty()) {
    woken();
  }
  std::size_t ran = to_flush.empty() ? context.run_one() : context.poll_one();
  const auto end = std::chrono::steady_clock::now() + kBatchTime;
  while (ran < kBatch && !stopping && std::chrono::steady_clock::now() < end &&
         context.poll_one() == 1) {
    ++ran;
  }
}

void Loop::Native::flush() {
  // What is added meanwhile belongs to the next batch.
  std::vector<std::shared_ptr<Flushable>> items;
  items.swap(to_flush);
  for (const std::shared_ptr<Flushable>& item : items) {
    item->flush();
  }
  items.clear();
  if (to_flush.empty()) {
    to_flush.swap(items);  // keeps the memory
  }
}

Loop::Loop() : native_(std::make_unique<Native>()) {}

Loop::~Loop() {
  while (!native_->watches.empty()) {
    unwatch(native_->watches.begin()->first);
  }
}

void Loop::run(Call before_wait, std::function<void(Duration)> after_turn) {
  while (!native_->stopping) {
    native_->run_batch();
    native_->woken();
    before_wait();
    native_->flush();
    if (after_turn) {
      after_turn(Clock::now() - *native_->awake);
    }
    native_->awake.reset();
  }
  native_->stopping = false;
}

void Loop::stop() { native_->stopping = true; }

void Loop::post(Call call) {
  boost::asio::post(native_->context, [native = native_.get(), call = std::move(call)] {
    native->woken();
    call();
  });
}

void Loop::watch(int fd, Call on_readable) {
  auto watch = std::make_shared<Native::Watch>(*native_, std::move(on_readable));
  error_code error;
  watch->descriptor.assign(fd, error);
  BERTH_CHECK(!error);
  BERTH_CHECK(native_->watches.emplace(fd, watch).second);
  watch->wait();
}

void Loop::unwatch(int fd) {
  const auto found = native_->watches.find(fd);
  if (found == native_->watches.end()) {
    return;
  }
  found->second->live = false;
  found->second->descriptor.release();
  native_->watches.erase(found);
}

void Loop::set_alarm(Duration from_now, Call call) {
  if (from_now == kForever) {
    native_->alarm_due = Native::kNoAlarm;
    return;
  }
  native_->alarm_due = Clock::now() + std::min(from_now, kLongest);
  native_->alarm_call = std::move(call);
  native_->arm_alarm();
}

/// A wait that was cancelled wakes the loop, too. So one that comes too early is left to come, and
/// sets the next: whoever sets the alarm anew in each turn must not wake itself by that.
void Loop::Native::arm_alarm() {
  if (alarm_armed <= alarm_due) {
    return;
  }
  alarm_armed = alarm_due;
  alarm.expires_at(alarm_due);
  alarm.async_wait([this](error_code error) {
    if (error) {
      return;  // there is an earlier one
    }
    woken();
    alarm_armed = kNoAlarm;
    if (Clock::now() < alarm_due) {
      arm_alarm();
    } else {
      alarm_due = kNoAlarm;
      std::exchange(alarm_call, {})();
    }
  });
}

}  // namespace berth
