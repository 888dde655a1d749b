#include "gpu/locks/lock_waits.h"

#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <mutex>

namespace berth {

struct LockWaits::Mailbox {
  std::mutex mutex;  // guards places
  std::vector<std::size_t> places;
  Fd event{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

namespace {

constexpr std::chrono::milliseconds kAnotherLook{1000};

struct Wait {
  Fd file;
  std::function<void()> done;
};

void* wait_for_lock(void* argument) {
  const std::unique_ptr<Wait> wait(static_cast<Wait*>(argument));
  while (::flock(wait->file.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
  // At once, before anybody takes it for the owner's.
  (void)::flock(wait->file.get(), LOCK_UN);
  wait->done();
  return nullptr;
}

void drain(int counter) {
  std::uint64_t count = 0;
  (void)!::read(counter, &count, sizeof count);
}

}  // namespace

Result<std::unique_ptr<LockWaits>> LockWaits::make() {
  std::unique_ptr<LockWaits> waits(new LockWaits);
  waits->mailbox_ = std::make_shared<Mailbox>();
  waits->timer_ = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  waits->events_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  for (const int source : {waits->mailbox_->event.get(), waits->timer_.get()}) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (source < 0 || !waits->events_ ||
        ::epoll_ctl(waits->events_.get(), EPOLL_CTL_ADD, source, &event) != 0) {
      return fail_errno("cannot wait for devices", errno);
    }
  }
  return waits;
}

void LockWaits::include(int fd) const {
  epoll_event event{};
  event.events = EPOLLIN;
  (void)::epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event);
}

/// Nobody ever stops the thread: whoever drops the locks is about to end, and a daemon wants to
/// know.
Result<void> LockWaits::await(std::size_t place, Fd file) {
  if (awaited_.contains(place)) {
    after(place, kAnotherLook);
    return {};
  }
  auto wait = std::make_unique<Wait>();
  wait->file = std::move(file);
  wait->done = [mailbox = mailbox_, place] {
    {
      const std::lock_guard lock(mailbox->mutex);
      mailbox->places.push_back(place);
    }
    const std::uint64_t one = 1;
    (void)!::write(mailbox->event.get(), &one, sizeof one);
  };
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  // The process's signals are not its business.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  const int error = ::pthread_create(&thread, &attributes, wait_for_lock, wait.get());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_attr_destroy(&attributes);
  if (error != 0) {
    return fail_errno("cannot wait for a device that is in use", error);
  }
  (void)wait.release();  // the thread's
  awaited_.insert(place);
  return {};
}

void LockWaits::after(std::size_t place, std::chrono::milliseconds delay) {
  const Moment moment = std::chrono::steady_clock::now() + delay;
  const auto [found, is_new] = later_.try_emplace(place, moment);
  found->second = std::min(found->second, moment);
  set_timer();
}

void LockWaits::set_timer() const {
  itimerspec when{};
  if (!later_.empty()) {
    const auto first =
        std::min_element(later_.begin(), later_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto moment =
        std::chrono::duration_cast<std::chrono::nanoseconds>(first->second.time_since_epoch());
    when.it_value.tv_sec = moment / std::chrono::seconds(1);
    when.it_value.tv_nsec = (moment % std::chrono::seconds(1)).count();
  }
  (void)::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

std::vector<std::size_t> LockWaits::take() {
  drain(mailbox_->event.get());
  drain(timer_.get());
  std::vector<std::size_t> places;
  {
    const std::lock_guard lock(mailbox_->mutex);
    places.swap(mailbox_->places);
  }
  for (const std::size_t place : places) {
    awaited_.erase(place);
  }
  const Moment now = std::chrono::steady_clock::now();
  for (auto each = later_.begin(); each != later_.end();) {
    if (each->second <= now) {
      places.push_back(each->first);
      each = later_.erase(each);
    } else {
      ++each;
    }
  }
  set_timer();
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

}  // namespace berth
