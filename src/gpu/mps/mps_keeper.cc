#include "gpu/mps/mps_keeper.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace berth {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A control daemon that has not answered by then is taken for one that hangs.
constexpr auto kStartPatience = seconds(30);
/// It should say by a new file that it may be asked again; if it does not, it is asked after this.
constexpr auto kAskAgain = milliseconds(250);
constexpr auto kQuitPatience = seconds(5);
/// With another user's, when this process ends: whoever comes next takes over what is left.
constexpr auto kForeignPatience = seconds(1);
constexpr auto kFirstBackoff = milliseconds(100);
constexpr auto kLongestBackoff = seconds(30);
/// So often in a row, and nobody waits for it any longer.
constexpr int kMostFailures = 5;
/// One that lived so long did not fail to start.
constexpr auto kHealthy = seconds(10);

}  // namespace

MpsKeeper::MpsKeeper(MpsDaemon daemon, MpsJobs jobs, UserLookup& users)
    : daemon_(std::move(daemon)), jobs_(std::move(jobs)), users_(users) {}

bool MpsKeeper::use(JobId job) {
  jobs_.add(job);
  if (daemon_.has_ended()) {
    bury();  // a moment ago
  }
  if (state_ == State::Ready) {
    return true;
  }
  jobs_.wait(job);
  advance();
  return false;
}

MpsKeeper::Clock::time_point MpsKeeper::wake_at() const {
  return std::min(wake_, daemon_.deadline());
}

MpsKeeper::Clock::duration MpsKeeper::quit_patience() const {
  return daemon_.place().user == ::geteuid()
             ? Clock::duration(kQuitPatience + MpsDaemon::kCommandPatience)
             : Clock::duration(kForeignPatience);
}

void MpsKeeper::enter(State state) {
  state_ = state;
  since_ = Clock::now();
  wake_ = Clock::time_point::max();
}

void MpsKeeper::adopt(MpsProcess process) {
  daemon_.adopt(std::move(process));
  removed_ = false;
  ask_again_ = true;
  enter(State::Starting);
  wake_ = Clock::now() + kAskAgain;
}

void MpsKeeper::start() {
  if (const Result<void> started = daemon_.start(); !started) {
    return tell_failure(started.error().message);
  }
  enter(State::Starting);
  wake_ = Clock::now() + kAskAgain;
}

void MpsKeeper::ask(Asked what) {
  if (const Result<void> begun = daemon_.ask(what)) {
    ask_again_ = false;
  } else if (what == Asked::ToMakePlace) {
    tell_failure(begun.error().message);
  } else {
    wake_ = std::min(wake_, Clock::now() + kAskAgain);
  }
}

void MpsKeeper::tell_failure(const std::string& why) {
  ++failures_;
  enter(State::Down);
  const auto backoff = kFirstBackoff * (1 << std::min(failures_ - 1, 10));
  wake_ = Clock::now() + std::min<Clock::duration>(backoff, kLongestBackoff);
  if (failures_ >= kMostFailures) {
    jobs_.fail(why);
  }
}

/// False while it is not known what a process of that user must be; an event will tell.
bool MpsKeeper::know_user() {
  const MpsPlace& place = daemon_.place();
  if (place.user == ::geteuid() || place.identity) {
    return true;
  }
  if (wake_ != Clock::time_point::max()) {
    return false;  // it was asked in vain a moment ago
  }
  std::optional<Result<UserIdentity>> found = users_.find(place.user);
  if (found && *found) {
    daemon_.know_user(std::move(**found));
  } else if (found) {
    removed_ = jobs_.empty();  // what is left of nobody is nobody's to remove
    tell_failure(found->error().message);
  }
  return place.identity.has_value();
}

void MpsKeeper::advance_down() {
  if (!know_user()) {
    return;
  }
  if (unknown_) {
    ask(Asked::WhoIsThere);
  } else if (std::exchange(quit_first_, false)) {
    ask(Asked::ToQuit);
  } else if (jobs_.empty()) {
    if (!std::exchange(removed_, true)) {
      ask(Asked::ToRemovePlace);
    }
  } else if (wake_ == Clock::time_point::max()) {
    removed_ = false;
    ask(Asked::ToMakePlace);
  }
}

void MpsKeeper::advance() {
  if (daemon_.is_busy()) {
    return;  // one thing after the other
  }
  switch (state_) {
    case State::Down:
      return advance_down();
    case State::Starting:
      if (jobs_.empty()) {
        enter(State::Quitting);
        wake_ = Clock::now() + kQuitPatience;
        daemon_.signal(SIGTERM);
      } else if (ask_again_) {
        ask(Asked::WhetherReady);
      }
      return;
    case State::Ready:
      if (jobs_.suspect()) {
        ask(Asked::WhetherUsed);
      } else if (jobs_.empty()) {
        enter(State::Quitting);
        wake_ = Clock::now() + kQuitPatience;
        ask(Asked::ToQuit);
      }
      return;
    case State::Quitting:
      return;
  }
}

void MpsKeeper::bury() {
  const State state = state_;
  const bool healthy = state == State::Ready && Clock::now() - since_ > kHealthy;
  Gone gone{state == State::Ready, daemon_.bury()};
  failures_ = healthy ? 0 : failures_;
  enter(State::Down);
  if (state != State::Quitting && !jobs_.empty()) {
    // One that was there already may have kept it from starting, and perhaps answered for it.
    unknown_ = true;
    gone_ = std::move(gone);
  }
}

/// Nobody is in its place.
void MpsKeeper::settle_gone(const Gone& gone) {
  // Those of old drivers do not say who they are.
  quit_first_ = gone.why.find("already running") != gone.why.npos;
  if (gone.was_ready && !quit_first_) {
    jobs_.died();
  }
  tell_failure(gone.why);
}

void MpsKeeper::take_answer(const MpsProcess& answer) {
  switch (daemon_.asked()) {
    case Asked::ToMakePlace:
      if (const Result<std::string> made = output_of(answer); !made) {
        tell_failure(made.error().message);
      } else if (auto there = found_control(answer, daemon_.place())) {
        adopt(std::move(*there));
      } else if (!jobs_.empty()) {
        start();
      }
      return;
    case Asked::WhoIsThere: {
      unknown_ = false;
      const std::optional<Gone> gone = std::exchange(gone_, std::nullopt);
      if (auto there = found_control(answer, daemon_.place())) {
        adopt(std::move(*there));
      } else if (gone) {
        settle_gone(*gone);
      } else {
        quit_first_ = true;
      }
      return;
    }
    case Asked::WhetherReady:
      if (state_ != State::Starting) {
        return;
      }
      if (const auto servers = server_list(answer)) {
        enter(State::Ready);
        jobs_.ready(*servers);
      } else {
        wake_ = Clock::now() + kAskAgain;
      }
      return;
    case Asked::WhetherUsed:
      jobs_.judge(server_list(answer), daemon_.place().pipe());
      return;
    case Asked::ToQuit:
    case Asked::ToRemovePlace:
      return;
  }
}

void MpsKeeper::on_time(Clock::time_point now) {
  daemon_.end_late_command(now);
  if (now < wake_) {
    return;
  }
  wake_ = Clock::time_point::max();
  if (state_ == State::Starting && now - since_ > kStartPatience) {
    daemon_.signal(SIGKILL);
  } else if (state_ == State::Starting) {
    ask_again_ = true;
    wake_ = now + kAskAgain;
  } else if (state_ == State::Quitting) {
    daemon_.signal(SIGKILL);
  }
  advance();
}

void MpsKeeper::look(bool news) {
  if (const std::optional<MpsProcess> answer = daemon_.take_answer()) {
    take_answer(*answer);
  }
  if (daemon_.has_ended()) {
    bury();
  }
  ask_again_ = ask_again_ || (news && state_ == State::Starting);
  on_time(Clock::now());
  advance();
}

}  // namespace berth
