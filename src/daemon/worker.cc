#include "daemon/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace berth {

struct Worker::State {
  explicit State(const Limits& its_limits) : limits(its_limits) {}

  /// The task whose turn it is: of the next user who has one. With the lock.
  Task take() {
    auto found = waiting.upper_bound(last_user);
    found = found == waiting.end() ? waiting.begin() : found;
    last_user = found->first;
    Task task = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty()) {
      waiting.erase(found);
    }
    return task;
  }

  static std::size_t bytes_of(const std::deque<Task>& tasks) {
    std::size_t bytes = 0;
    for (const Task& task : tasks) {
      bytes += task.bytes;
    }
    return bytes;
  }

  const Limits limits;
  std::mutex mutex;  // guards all below
  std::condition_variable changed;
  std::map<uid_t, std::deque<Task>> waiting;  // only users who have one
  uid_t last_user = 0;
  std::function<bool()> unwanted;                // of the present task
  std::shared_ptr<std::atomic<bool>> cancelled;  // likewise
  bool room = true;
  bool ending = false;
};

Worker::Worker(const Limits& limits) : state_(std::make_shared<State>(limits)) {}

Worker::~Worker() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
    if (state_->cancelled != nullptr) {
      *state_->cancelled = true;
    }
  }
  state_->changed.notify_one();
  if (thread_.joinable()) {
    thread_.join();
  }
  state_->waiting.clear();
}

Result<void> Worker::run(Task task) {
  {
    const std::lock_guard lock(state_->mutex);
    std::size_t bytes = task.bytes;
    for (const auto& [user, tasks] : state_->waiting) {
      const std::size_t theirs = State::bytes_of(tasks);
      bytes += theirs;
      if (user == task.user && (tasks.size() >= state_->limits.tasks ||
                                theirs + task.bytes > state_->limits.user_bytes)) {
        return fail(ErrorCode::Refused,
                    "too many long requests of yours wait to be read: try again when they have "
                    "been answered");
      }
    }
    if (bytes > state_->limits.bytes) {
      return fail(ErrorCode::Refused,
                  "too many long requests wait to be read: try again in a moment");
    }
    const uid_t user = task.user;
    state_->waiting[user].push_back(std::move(task));
  }
  if (!thread_.joinable()) {
    thread_ = std::thread([state = state_] { loop(state); });
  }
  state_->changed.notify_one();
  return {};
}

void Worker::check() {
  std::vector<Task> dropped;  // without the lock: whoever is told of it may ask for more
  const std::lock_guard lock(state_->mutex);
  if (state_->unwanted && state_->unwanted()) {
    *state_->cancelled = true;
  }
  for (auto& [user, tasks] : state_->waiting) {
    const auto first = std::stable_partition(tasks.begin(), tasks.end(), [](const Task& task) {
      return !task.unwanted || !task.unwanted();
    });
    std::move(first, tasks.end(), std::back_inserter(dropped));
    tasks.erase(first, tasks.end());
  }
  std::erase_if(state_->waiting, [](const auto& entry) { return entry.second.empty(); });
}

void Worker::loop(const std::shared_ptr<State>& held) {
  State& state = *held;
  std::unique_lock lock(state.mutex);
  for (;;) {
    state.changed.wait(lock,
                       [&] { return state.ending || (state.room && !state.waiting.empty()); });
    if (state.ending) {
      return;
    }
    Task task = state.take();
    state.unwanted = std::move(task.unwanted);
    state.cancelled = std::make_shared<std::atomic<bool>>(false);
    state.room = false;
    const Patience patience(state.cancelled, Patience::Clock::now() + state.limits.time);
    lock.unlock();
    {
      const Turn turn{patience, std::shared_ptr<void>(nullptr, [held](void*) {
                        const std::lock_guard again(held->mutex);
                        held->room = true;
                        held->changed.notify_one();
                      })};
      task.work(turn);
    }
    task = {};
    lock.lock();
    state.unwanted = nullptr;
  }
}

}  // namespace berth
