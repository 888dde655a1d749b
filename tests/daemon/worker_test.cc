#include "daemon/worker.h"

#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <string>

namespace berth {
namespace {

/// Work that ends when it is told to.
struct Gate {
  std::promise<void> open;
  std::shared_future<void> opened = open.get_future().share();
  std::promise<void> begun;

  Worker::Task task(uid_t user) {
    Worker::Task task;
    task.user = user;
    task.work = [this](const Worker::Turn&) {
      begun.set_value();
      opened.wait();
    };
    return task;
  }
};

/// Who had a turn, in order.
class Turns {
 public:
  Worker::Task task(uid_t user, std::size_t bytes = 0) {
    Worker::Task task;
    task.user = user;
    task.bytes = bytes;
    task.work = [this, user](const Worker::Turn&) {
      const std::lock_guard lock(mutex_);
      users_ += static_cast<char>('0' + user);
    };
    return task;
  }
  std::string users() {
    const std::lock_guard lock(mutex_);
    return users_;
  }

 private:
  std::mutex mutex_;
  std::string users_;
};

/// Returns when all that was given before has had its turn.
void drain(Worker& worker, uid_t last_user) {
  std::promise<void> done;
  Worker::Task task;
  task.user = last_user;
  task.work = [&](const Worker::Turn&) { done.set_value(); };
  ASSERT_TRUE(worker.run(std::move(task)).has_value());
  done.get_future().wait();
}

TEST(Worker, UsersTakeTurns) {
  Gate gate;
  Turns turns;
  Worker worker;
  ASSERT_TRUE(worker.run(gate.task(1)).has_value());
  gate.begun.get_future().wait();
  for (const uid_t user : {1, 1, 1, 1, 2, 3, 3}) {
    ASSERT_TRUE(worker.run(turns.task(user)).has_value());
  }
  gate.open.set_value();
  drain(worker, 1);
  EXPECT_EQ(turns.users(), "2313111");
}

TEST(Worker, EachUserMayHaveSoMuchWaiting) {
  Gate gate;
  Turns turns;
  Worker::Limits limits;
  limits.tasks = 2;
  limits.user_bytes = 100;
  limits.bytes = 150;
  Worker worker(limits);
  ASSERT_TRUE(worker.run(gate.task(1)).has_value());
  gate.begun.get_future().wait();
  EXPECT_TRUE(worker.run(turns.task(1, 60)).has_value());
  EXPECT_FALSE(worker.run(turns.task(1, 60)).has_value()) << "too many bytes of one user";
  EXPECT_TRUE(worker.run(turns.task(1)).has_value());
  EXPECT_FALSE(worker.run(turns.task(1)).has_value()) << "too many tasks of one user";
  EXPECT_TRUE(worker.run(turns.task(2, 60)).has_value());
  EXPECT_FALSE(worker.run(turns.task(3, 60)).has_value()) << "too many bytes of all";
  gate.open.set_value();
}

TEST(Worker, WhatNobodyWantsIsCancelled) {
  std::promise<void> begun;
  std::promise<void> ended;
  Worker worker;
  Worker::Task task;
  task.unwanted = [] { return true; };
  task.work = [&](const Worker::Turn& turn) {
    begun.set_value();
    while (!turn.patience.over()) {
    }
    EXPECT_TRUE(turn.patience.cancelled());
    ended.set_value();
  };
  ASSERT_TRUE(worker.run(std::move(task)).has_value());
  begun.get_future().wait();
  Turns turns;
  Worker::Task waits = turns.task(1);
  waits.unwanted = [] { return true; };
  ASSERT_TRUE(worker.run(std::move(waits)).has_value());
  worker.check();
  ended.get_future().wait();
  drain(worker, 0);
  EXPECT_EQ(turns.users(), "");
}

TEST(Worker, EndsWithItsPresentTask) {
  std::promise<void> begun;
  Turns turns;
  {
    Worker worker;
    Worker::Task task;
    task.work = [&](const Worker::Turn& turn) {
      begun.set_value();
      while (!turn.patience.over()) {
      }
    };
    ASSERT_TRUE(worker.run(std::move(task)).has_value());
    begun.get_future().wait();
    ASSERT_TRUE(worker.run(turns.task(1)).has_value());
  }
  EXPECT_EQ(turns.users(), "") << "what waited is dropped";
}

TEST(Worker, TimeIsBounded) {
  Worker::Limits limits;
  limits.time = std::chrono::milliseconds(1);
  Worker worker(limits);
  std::promise<bool> cancelled;
  Worker::Task task;
  task.work = [&](const Worker::Turn& turn) {
    while (!turn.patience.over()) {
    }
    cancelled.set_value(turn.patience.cancelled());
  };
  ASSERT_TRUE(worker.run(std::move(task)).has_value());
  EXPECT_FALSE(cancelled.get_future().get());
}

TEST(Worker, TheNextBeginsWhenThereIsRoom) {
  std::shared_ptr<void> room;
  std::promise<void> done;
  Turns turns;
  Worker worker;
  Worker::Task task;
  task.work = [&](const Worker::Turn& turn) {
    room = turn.room;
    done.set_value();
  };
  ASSERT_TRUE(worker.run(std::move(task)).has_value());
  done.get_future().wait();
  ASSERT_TRUE(worker.run(turns.task(1)).has_value());
  EXPECT_EQ(turns.users(), "");
  room.reset();
  drain(worker, 1);
  EXPECT_EQ(turns.users(), "1");
}

TEST(Worker, RoomMayOutliveIt) {
  std::shared_ptr<void> room;
  std::promise<void> done;
  {
    Worker worker;
    Worker::Task task;
    task.work = [&](const Worker::Turn& turn) {
      room = turn.room;
      done.set_value();
    };
    ASSERT_TRUE(worker.run(std::move(task)).has_value());
    done.get_future().wait();
  }
  room.reset();
}

}  // namespace
}  // namespace berth
