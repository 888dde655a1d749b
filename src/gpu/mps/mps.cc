#include "gpu/mps/mps.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "gpu/locks/lock_folder.h"

namespace berth {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A control daemon that has not answered by then is taken for one that hangs.
constexpr auto kStartPatience = seconds(30);
/// It should say by a new file that it may be asked again; if it does not, it is asked after this.
constexpr auto kAskAgain = milliseconds(250);
constexpr auto kCommandPatience = seconds(10);
constexpr auto kQuitPatience = seconds(5);
/// With another user's, when this process ends: whoever comes next takes over what is left.
constexpr auto kForeignPatience = seconds(1);
constexpr auto kFirstBackoff = milliseconds(100);
constexpr auto kLongestBackoff = seconds(30);
/// So often in a row, and nobody waits for it any longer.
constexpr int kMostFailures = 5;
/// One that lived so long did not fail to start.
constexpr auto kHealthy = seconds(10);

bool has_ended(const MpsProcess& process) {
  pollfd ended{process.fd.get(), POLLIN, 0};
  if (::poll(&ended, 1, 0) <= 0) {
    return false;
  }
  // A child of ours, unless it was adopted or somebody else has reaped it.
  siginfo_t info{};
  (void)::waitid(P_PIDFD, static_cast<id_t>(process.fd.get()), &info, WEXITED | WNOHANG);
  return true;
}

}  // namespace

Mps::Mps(Owner owner)
    : owner_(std::move(owner)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      folders_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  BERTH_CHECK(epoll_ && folders_ && timer_);
  watch(folders_.get());
  watch(timer_.get());
  watch(users_.event_fd());
}

void Mps::watch(int fd) const {
  epoll_event event{};
  event.events = EPOLLIN;
  BERTH_CHECK(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0);
}

Result<void> Mps::check_available() {
  if (!program_.empty()) {
    return {};
  }
  const Result<std::string> found = find_mps_program();
  if (!found) {
    return Failure(found.error());
  }
  program_ = *found;
  return {};
}

MpsPlace Mps::place_for(const DeviceInfo& device, uid_t user) const {
  return {mps_folder(user, owner_.identity, lock_key(device)), device.visible, user, owner_.mark,
          std::nullopt};
}

EnvironmentChanges Mps::environment(const DeviceInfo& device, const Needs& needs) const {
  return mps_environment(place_for(device, needs.mps - mps_of(0)), device, needs);
}

// --- who uses what

Mps::Control* Mps::control_of(JobId job) {
  const auto found = std::find_if(controls_.begin(), controls_.end(), [&](const auto& control) {
    return control.second.jobs.contains(job);
  });
  return found == controls_.end() ? nullptr : &found->second;
}

Result<bool> Mps::use(JobId job, const DeviceInfo& device, uid_t user) {
  if (device.family == DeviceFamily::Amd) {
    return fail(ErrorCode::Usage,
                fmt::format("MPS is for NVIDIA's devices, which GPU {} is not: leave MPS out",
                            device.spec.name));
  }
  if (const Result<void> available = check_available(); !available) {
    return Failure(available.error());
  }
  MpsPlace place = place_for(device, user);
  const auto [entry, added] = controls_.try_emplace(place.folder);
  Control& control = entry->second;
  if (added) {
    control.place = std::move(place);
    control.device = device.spec.name;
    control.telemetry = device.family != DeviceFamily::Trusted;
  }
  control.jobs.insert(job);
  if (control.process && has_ended(*control.process)) {
    process_gone(control);  // a moment ago
  }
  if (control.state == State::Ready) {
    return true;
  }
  control.waiting.insert(job);
  advance(control);
  set_timer();
  return false;
}

void Mps::release(JobId job) {
  if (Control* control = control_of(job)) {
    control->jobs.erase(job);
    const bool started = control->waiting.erase(job) == 0;
    if (started && !control->telemetry) {
      suspect(*control, job);  // nobody has seen it at work: its end is the time to ask
    }
  }
}

void Mps::at_work(JobId job) {
  if (Control* control = control_of(job)) {
    suspect(*control, job);
    advance(*control);
    set_timer();
  }
}

void Mps::suspect(Control& control, JobId job) {
  if (!control.used && !control.told && !control.suspect) {
    control.suspect = job;
  }
}

void Mps::settle() {
  if (controls_.empty()) {
    return;
  }
  for (auto& [folder, control] : controls_) {
    advance(control);
  }
  std::erase_if(controls_, [](const auto& entry) {
    const Control& control = entry.second;
    return control.removed && control.jobs.empty() && !control.command;
  });
  set_timer();
}

void Mps::take_over(std::span<const DeviceInfo> devices) {
  (void)check_available().has_value();  // else they are not asked to quit, but made to
  for (const uid_t user : mps_users()) {
    for (const DeviceInfo& device : devices) {
      MpsPlace place = place_for(device, user);
      if (controls_.contains(place.folder) || !place_exists(place)) {
        continue;
      }
      Control& control = controls_[place.folder];
      control.place = std::move(place);
      control.device = device.spec.name;
      control.unknown = true;
    }
  }
  settle();
}

void Mps::finish() {
  const Clock::time_point begun = Clock::now();
  settle();
  const auto busy = [&] {
    return std::any_of(controls_.begin(), controls_.end(), [&](const auto& entry) {
      const Control& control = entry.second;
      const Clock::duration patience = control.place.user == ::geteuid()
                                           ? Clock::duration(kQuitPatience + kCommandPatience)
                                           : Clock::duration(kForeignPatience);
      return control.jobs.empty() && Clock::now() - begun < patience;
    });
  };
  while (busy()) {
    pollfd ready{epoll_.get(), POLLIN, 0};
    (void)::poll(&ready, 1, static_cast<int>(milliseconds(kAskAgain).count()));
    look();
    settle();
  }
}

// --- what becomes of a control daemon

void Mps::enter(Control& control, State state) {
  control.state = state;
  control.since = Clock::now();
  control.wake = Clock::time_point::max();
}

void Mps::adopt(Control& control, MpsProcess process) {
  watch(process.fd.get());
  control.process = std::move(process);
  control.removed = false;
  control.ask_again = true;
  enter(control, State::Starting);
  watch_pipe(control.place, folders_.get());
  control.wake = Clock::now() + kAskAgain;
}

void Mps::start_in_place(Control& control) {
  watch_pipe(control.place, folders_.get());
  Result<MpsProcess> started = start_control(program_, control.place);
  if (!started) {
    return tell_failure(control, started.error().message);
  }
  watch(started->fd.get());
  control.process = std::move(*started);
  enter(control, State::Starting);
  control.wake = Clock::now() + kAskAgain;
}

Result<MpsProcess> Mps::command_for(const Control& control, Asked what) const {
  switch (what) {
    case Asked::ToMakePlace:
      return make_place(control.place);
    case Asked::WhoIsThere:
      return look_in_place(control.place);
    case Asked::WhetherReady:
    case Asked::WhetherUsed:
      return tell_control(program_, control.place, "get_server_list");
    case Asked::ToQuit:
      return tell_control(program_, control.place, "quit");
    case Asked::ToRemovePlace:
      return remove_place(control.place);
  }
  return fail(ErrorCode::Usage, "there is no such command");
}

void Mps::ask(Control& control, Asked what) {
  Result<MpsProcess> command = command_for(control, what);
  if (!command) {
    if (what == Asked::ToMakePlace) {
      return tell_failure(control, command.error().message);
    }
    control.wake = std::min(control.wake, Clock::now() + kAskAgain);
    return;
  }
  watch(command->fd.get());
  control.command = std::move(*command);
  control.asked = what;
  control.command_deadline = Clock::now() + kCommandPatience;
  control.ask_again = false;
}

void Mps::tell_failure(Control& control, const std::string& why) {
  ++control.failures;
  enter(control, State::Down);
  const auto backoff = kFirstBackoff * (1 << std::min(control.failures - 1, 10));
  control.wake = Clock::now() + std::min<Clock::duration>(backoff, kLongestBackoff);
  if (control.failures >= kMostFailures && !control.waiting.empty()) {
    events_.push_back({MpsEvent::Kind::Failed,
                       {control.waiting.begin(), control.waiting.end()},
                       fmt::format("MPS cannot be started on GPU {}{}{}", control.device,
                                   why.empty() ? "" : ": ", why)});
    for (const JobId job : std::exchange(control.waiting, {})) {
      control.jobs.erase(job);
    }
  }
}

/// False while it is not known what a process of that user must be; an event will tell.
bool Mps::know_user(Control& control) {
  MpsPlace& place = control.place;
  if (place.user == ::geteuid() || place.identity) {
    return true;
  }
  if (control.wake != Clock::time_point::max()) {
    return false;  // it was asked in vain a moment ago
  }
  std::optional<Result<UserIdentity>> found = users_.find(place.user);
  if (found && *found) {
    place.identity = std::move(**found);
  } else if (found) {
    control.removed = control.jobs.empty();  // what is left of nobody is nobody's to remove
    tell_failure(control, found->error().message);
  }
  return place.identity.has_value();
}

void Mps::advance_down(Control& control) {
  if (!know_user(control)) {
    return;
  }
  if (control.unknown) {
    ask(control, Asked::WhoIsThere);
  } else if (std::exchange(control.quit_first, false)) {
    ask(control, Asked::ToQuit);
  } else if (control.jobs.empty()) {
    if (!std::exchange(control.removed, true)) {
      ask(control, Asked::ToRemovePlace);
    }
  } else if (control.wake == Clock::time_point::max()) {
    control.removed = false;
    ask(control, Asked::ToMakePlace);
  }
}

void Mps::advance(Control& control) {
  if (control.command) {
    return;  // one thing after the other
  }
  switch (control.state) {
    case State::Down:
      return advance_down(control);
    case State::Starting:
      if (control.jobs.empty()) {
        enter(control, State::Quitting);
        control.wake = Clock::now() + kQuitPatience;
        signal_control(*control.process, SIGTERM);
      } else if (control.ask_again) {
        ask(control, Asked::WhetherReady);
      }
      return;
    case State::Ready:
      if (control.suspect) {
        ask(control, Asked::WhetherUsed);
      } else if (control.jobs.empty()) {
        enter(control, State::Quitting);
        control.wake = Clock::now() + kQuitPatience;
        ask(control, Asked::ToQuit);
      }
      return;
    case State::Quitting:
      return;
  }
}

void Mps::process_gone(Control& control) {
  const State state = control.state;
  const bool healthy = state == State::Ready && Clock::now() - control.since > kHealthy;
  Gone gone{state == State::Ready, last_words(*control.process)};
  control.process.reset();
  control.failures = healthy ? 0 : control.failures;
  enter(control, State::Down);
  if (state != State::Quitting && !control.jobs.empty()) {
    // One that was there already may have kept it from starting, and perhaps answered for it.
    control.unknown = true;
    control.gone = std::move(gone);
  }
}

/// Nobody is in its place.
void Mps::settle_gone(Control& control, const Gone& gone) {
  // Those of old drivers do not say who they are.
  control.quit_first = gone.why.find("already running") != gone.why.npos;
  if (gone.was_ready && !control.quit_first) {
    control.used = true;  // a server of its may still be there, and its successor does not know
    events_.push_back({MpsEvent::Kind::Died,
                       {control.jobs.begin(), control.jobs.end()},
                       fmt::format("the MPS control daemon of GPU {} has died under its jobs: "
                                   "starting it again",
                                   control.device)});
  }
  tell_failure(control, gone.why);
}

void Mps::command_done(Control& control) {
  const MpsProcess command = std::move(*std::exchange(control.command, std::nullopt));
  const auto servers = server_list(command);
  switch (control.asked) {
    case Asked::ToMakePlace:
      if (const Result<std::string> made = output_of(command); !made) {
        tell_failure(control, made.error().message);
      } else if (auto there = found_control(command, control.place)) {
        adopt(control, std::move(*there));
      } else if (!control.jobs.empty()) {
        start_in_place(control);
      }
      return;
    case Asked::WhoIsThere: {
      control.unknown = false;
      const std::optional<Gone> gone = std::exchange(control.gone, std::nullopt);
      if (auto there = found_control(command, control.place)) {
        adopt(control, std::move(*there));
      } else if (gone) {
        settle_gone(control, *gone);
      } else {
        control.quit_first = true;
      }
      return;
    }
    case Asked::WhetherReady:
      if (servers && control.state == State::Starting) {
        enter(control, State::Ready);
        control.used = control.used || !servers->empty();
        events_.push_back(
            {MpsEvent::Kind::Ready, {control.waiting.begin(), control.waiting.end()}, ""});
        control.waiting.clear();
      } else if (control.state == State::Starting) {
        control.wake = Clock::now() + kAskAgain;
      }
      return;
    case Asked::WhetherUsed:
      if (servers && servers->empty() && !control.used && !control.told) {
        control.told = true;
        events_.push_back(
            {MpsEvent::Kind::NotUsed,
             {*control.suspect},
             fmt::format("job {} does not go through MPS: GPU {} has no MPS server, so the job "
                         "shares it as if MPS were off (does its program or container hide {}?)",
                         control.suspect->value, control.device, control.place.pipe())});
      }
      control.used = control.used || (servers && !servers->empty());
      control.suspect.reset();
      return;
    case Asked::ToQuit:
    case Asked::ToRemovePlace:
      return;
  }
}

void Mps::on_time(Control& control, Clock::time_point now) {
  if (control.command && now >= control.command_deadline) {
    signal_control(*control.command, SIGKILL);
    control.command_deadline = Clock::time_point::max();
  }
  if (now < control.wake) {
    return;
  }
  control.wake = Clock::time_point::max();
  if (control.state == State::Starting && now - control.since > kStartPatience) {
    signal_control(*control.process, SIGKILL);
  } else if (control.state == State::Starting) {
    control.ask_again = true;
    control.wake = now + kAskAgain;
  } else if (control.state == State::Quitting) {
    signal_control(*control.process, SIGKILL);
  }
  advance(control);
}

/// Whatever has happened to any of them.
void Mps::look() {
  std::array<char, 4096> block;
  bool news = false;
  while (::read(folders_.get(), block.data(), block.size()) > 0) {
    news = true;
  }
  std::uint64_t expired = 0;
  (void)!::read(timer_.get(), &expired, sizeof expired);
  users_.clear_event();
  for (auto& [folder, control] : controls_) {
    if (control.command && has_ended(*control.command)) {
      command_done(control);
    }
    if (control.process && has_ended(*control.process)) {
      process_gone(control);
    }
    control.ask_again = control.ask_again || (news && control.state == State::Starting);
    on_time(control, Clock::now());
    advance(control);
  }
}

std::vector<MpsEvent> Mps::take_events() {
  look();
  set_timer();
  return std::exchange(events_, {});
}

void Mps::set_timer() {
  Clock::time_point next = events_.empty() ? Clock::time_point::max() : Clock::now();
  for (const auto& [folder, control] : controls_) {
    next = std::min(next, control.wake);
    if (control.command) {
      next = std::min(next, control.command_deadline);
    }
  }
  itimerspec when{};
  if (next != Clock::time_point::max()) {
    const auto left = std::max<Clock::duration>(next - Clock::now(), std::chrono::nanoseconds(1));
    when.it_value.tv_sec = left / seconds(1);
    when.it_value.tv_nsec = (left % seconds(1)) / std::chrono::nanoseconds(1);
  }
  (void)::timerfd_settime(timer_.get(), 0, &when, nullptr);
}

}  // namespace berth
