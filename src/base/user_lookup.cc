#include "base/user_lookup.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <system_error>
#include <thread>

#include "base/check.h"

namespace berth {

UserLookup::UserLookup() : shared_(std::make_shared<Shared>()) {
  shared_->event = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  BERTH_CHECK(shared_->event);
}

std::optional<Result<UserIdentity>> UserLookup::find(uid_t user) {
  {
    const std::lock_guard lock(shared_->mutex);
    if (const auto [found, added] = shared_->asked.try_emplace(user); !added) {
      std::optional<Result<UserIdentity>> answer = found->second;
      if (answer) {
        shared_->asked.erase(found);
      }
      return answer;
    }
  }
  const auto look = [shared = shared_, user] {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
    Result<UserIdentity> answer = find_user(user);
    const std::lock_guard lock(shared->mutex);
    shared->asked[user] = std::move(answer);
    const std::uint64_t one = 1;
    (void)!::write(shared->event.get(), &one, sizeof one);
  };
  try {
    std::thread(look).detach();
  } catch (const std::system_error&) {
    const std::lock_guard lock(shared_->mutex);
    shared_->asked.erase(user);
    return fail(ErrorCode::Io, "cannot start a thread to look up a user");
  }
  return std::nullopt;
}

void UserLookup::clear_event() {
  std::uint64_t count = 0;
  (void)!::read(shared_->event.get(), &count, sizeof count);
}

}  // namespace berth
