#include "api/loop.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "base/fd.h"

namespace berth {
namespace {

struct Event {
  Event() : fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  void raise() const { EXPECT_EQ(::eventfd_write(fd.get(), 1), 0); }
  void lower() const {
    eventfd_t value = 0;
    EXPECT_EQ(::eventfd_read(fd.get(), &value), 0);
  }
  Fd fd;
};

TEST(Loop, CommitsOncePerBatch) {
  Loop loop;
  int calls = 0;
  std::vector<int> seen;
  for (int i = 0; i < 100; ++i) {
    loop.post([&] { ++calls; });
  }
  loop.post([&] { loop.stop(); });
  loop.run([&] { seen.push_back(calls); });
  EXPECT_EQ(seen, std::vector<int>{100});
}

TEST(Loop, AnAlarmThatEachTurnRenewsDoesNotWakeIt) {
  using Clock = std::chrono::steady_clock;
  Loop loop;
  int turns = 0;
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(20);
  loop.post([] {});
  loop.run([&] {
    ++turns;
    loop.set_alarm(std::max<Duration>(end - Clock::now(), Duration(0)), [&] { loop.stop(); });
  });
  EXPECT_LE(turns, 6);  // it would be thousands
}

TEST(Loop, AFloodDoesNotPutTheCommitOff) {
  Loop loop;
  int commits = 0;
  Loop::Call again = [&] { loop.post(again); };
  again();
  loop.run([&] {
    if (++commits == 3) {
      loop.stop();
    }
  });
  EXPECT_EQ(commits, 3);
}

TEST(Loop, StopBeforeRunEndsIt) {
  Loop loop;
  loop.stop();
  loop.run([] { FAIL(); });
}

TEST(Loop, PostsFromOtherThreads) {
  Loop loop;
  int calls = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 1000; ++k) {
        loop.post([&] {
          if (++calls == 4000) {
            loop.stop();
          }
        });
      }
    });
  }
  loop.run([] {});
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(calls, 4000);
}

TEST(Loop, CallsWhileReadable) {
  Loop loop;
  const Event event;
  int calls = 0;
  loop.watch(event.fd.get(), [&] {
    if (++calls == 3) {  // not read before: it stays readable
      event.lower();
      loop.stop();
    }
  });
  event.raise();
  loop.run([] {});
  EXPECT_EQ(calls, 3);
}

TEST(Loop, UnwatchesFromWithinAndWatchesAgain) {
  Loop loop;
  const Event event;
  std::vector<int> order;
  event.raise();
  loop.watch(event.fd.get(), [&] {
    order.push_back(1);
    loop.unwatch(event.fd.get());
    loop.watch(event.fd.get(), [&] {
      order.push_back(2);
      loop.unwatch(event.fd.get());
      loop.stop();
    });
  });
  loop.run([] {});
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(Loop, WhatIsUnwatchedInTheSameBatchIsNotCalled) {
  Loop loop;
  const Event first;
  const Event second;
  int calls = 0;
  const auto once = [&](int other) {
    return [&loop, &calls, other] {
      ++calls;
      loop.unwatch(other);
      loop.stop();
    };
  };
  loop.watch(first.fd.get(), once(second.fd.get()));
  loop.watch(second.fd.get(), once(first.fd.get()));
  first.raise();
  second.raise();
  loop.run([] {});
  EXPECT_EQ(calls, 1);
}

TEST(Loop, WatchesManyDescriptors) {
  Loop loop;
  std::vector<Event> events(200);
  std::size_t calls = 0;
  for (const Event& event : events) {
    loop.watch(event.fd.get(), [&] {
      event.lower();
      loop.unwatch(event.fd.get());
      if (++calls == events.size()) {
        loop.stop();
      }
    });
  }
  for (const Event& event : events) {
    event.raise();
  }
  loop.run([] {});
  EXPECT_EQ(calls, events.size());
}

TEST(Loop, ALaterAlarmReplacesTheFormer) {
  Loop loop;
  loop.set_alarm(Duration(0), [] { FAIL(); });
  loop.set_alarm(kForever, [] { FAIL(); });
  loop.set_alarm(std::chrono::hours(1), [] { FAIL(); });
  loop.set_alarm(std::chrono::milliseconds(1), [&] { loop.stop(); });
  loop.run([] {});
}

TEST(Loop, TheAlarmSetsItselfAgain) {
  Loop loop;
  int calls = 0;
  const Loop::Call ring = [&] {
    if (++calls == 3) {
      loop.stop();
    } else {
      loop.set_alarm(std::chrono::milliseconds(1), ring);
    }
  };
  loop.set_alarm(Duration(0), ring);
  loop.run([] {});
  EXPECT_EQ(calls, 3);
}

TEST(Loop, EndsWithThingsPending) {
  const Event event;
  {
    Loop loop;
    loop.watch(event.fd.get(), [] { FAIL(); });
    loop.set_alarm(std::chrono::hours(1), [] { FAIL(); });
    loop.post([] { FAIL(); });
  }
  event.raise();  // still the caller's, and open
  event.lower();
}

TEST(Loop, TellsHowLongATurnTookWithoutItsSleep) {
  Loop loop;
  std::vector<Duration> turns;
  const auto busy = [](Duration length) {
    const auto end = std::chrono::steady_clock::now() + length;
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  loop.post([&] { busy(std::chrono::milliseconds(20)); });
  // Another turn, after a sleep that is not part of it.
  loop.set_alarm(std::chrono::milliseconds(500), [&] { loop.stop(); });
  loop.run([] {}, [&](Duration took) { turns.push_back(took); });
  ASSERT_GE(turns.size(), 2U);
  EXPECT_GE(turns.front(), std::chrono::milliseconds(20));
  EXPECT_LT(turns.back(), std::chrono::milliseconds(400));
}

}  // namespace
}  // namespace berth
