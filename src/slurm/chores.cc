#include "slurm/chores.h"

#include <signal.h>
#include <sys/eventfd.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

namespace berth {

struct Chores::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Work> waiting;
  std::vector<Finish> done;
  bool stopping = false;
  Fd event{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  Fd stop{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

namespace {

void raise(const Fd& event) {
  const std::uint64_t one = 1;
  (void)!::write(event.get(), &one, sizeof one);
}

}  // namespace

Chores::Chores(Where where) : state_(std::make_unique<State>()) {
  if (where == Where::AtOnce) {
    return;
  }
  // Signals are for the owner's thread.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([state = state_.get()] { loop(*state); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Chores::~Chores() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  raise(state_->stop);
  state_->changed.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Chores::add(Work work) {
  ++left_;
  if (!thread_.joinable()) {
    state_->done.push_back(work());
    return raise(state_->event);
  }
  {
    const std::lock_guard lock(state_->mutex);
    state_->waiting.push_back(std::move(work));
  }
  state_->changed.notify_all();
}

int Chores::event_fd() const { return state_->event.get(); }
int Chores::stop_fd() const { return state_->stop.get(); }

void Chores::finish() {
  std::uint64_t count = 0;
  (void)!::read(state_->event.get(), &count, sizeof count);
  std::vector<Finish> done;
  {
    const std::lock_guard lock(state_->mutex);
    std::swap(done, state_->done);
  }
  for (const Finish& each : done) {
    --left_;
    if (each) {
      each();
    }
  }
}

void Chores::loop(State& state) {
  std::unique_lock lock(state.mutex);
  for (;;) {
    state.changed.wait(lock, [&] { return state.stopping || !state.waiting.empty(); });
    if (state.stopping) {
      return;
    }
    const Work work = std::move(state.waiting.front());
    state.waiting.pop_front();
    lock.unlock();
    Finish finish = work();
    lock.lock();
    state.done.push_back(std::move(finish));
    raise(state.event);
  }
}

}  // namespace berth
