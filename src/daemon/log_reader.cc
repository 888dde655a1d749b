#include "daemon/log_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "daemon/replies.h"

namespace berth {
namespace {

constexpr std::size_t kMostAtOnce = std::size_t{256} << 10;
/// Nobody else is served while the lines of a tail are counted.
constexpr std::uint64_t kFurthestTail = std::uint64_t{32} << 20;
constexpr Duration kLongestWait = std::chrono::seconds(30);

/// With the rights of the user whose job it is: a path that the user chose must not let a daemon
/// that may read everything read everything for them.
Fd open_as(const std::string& path, uid_t user) {
  constexpr int kFlags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  if (::geteuid() != 0 || user == 0) {
    return Fd(::open(path.c_str(), kFlags));
  }
  const passwd* entry = ::getpwuid(user);
  const gid_t group = entry == nullptr ? static_cast<gid_t>(-1) : entry->pw_gid;
  const int old_group = ::setfsgid(group);
  const int old_user = ::setfsuid(user);
  Fd file(::open(path.c_str(), kFlags));
  const int error = errno;
  ::setfsuid(static_cast<uid_t>(old_user));
  ::setfsgid(static_cast<gid_t>(old_group));
  errno = error;
  return file;
}

/// Where the last `lines` lines begin, as far as it looks back.
std::uint64_t tail_offset(int file, std::uint64_t size, std::int64_t lines) {
  std::string block(std::size_t{64} * 1024, '\0');
  const std::uint64_t start = size > kFurthestTail ? size - kFurthestTail : 0;
  // A newline at the very end closes the last line and opens none.
  std::uint64_t end = size > 0 ? size - 1 : 0;
  while (end > start) {
    const std::uint64_t begin = std::max(start, end > block.size() ? end - block.size() : 0);
    const ssize_t got = ::pread(file, block.data(), static_cast<std::size_t>(end - begin),
                                static_cast<off_t>(begin));
    if (got <= 0) {
      return begin;
    }
    std::string_view text(block.data(), static_cast<std::size_t>(got));
    for (std::size_t at; (at = text.rfind('\n')) != text.npos; text = text.substr(0, at)) {
      if (--lines <= 0) {
        return begin + at + 1;
      }
    }
    end = begin;
  }
  return start;
}

}  // namespace

std::string read_tail(const std::string& path, uid_t user, std::size_t most) {
  const Fd file = open_as(path, user);
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return "";
  }
  std::string text(std::min(most, static_cast<std::size_t>(status.st_size)), '\0');
  const ssize_t got = ::pread(file.get(), text.data(), text.size(),
                              status.st_size - static_cast<off_t>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

LogReader::LogReader() : events_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  BERTH_CHECK(events_);
}

std::optional<HttpResponse> LogReader::answer(LogRequest& request, bool may_wait) const {
  HttpResponse response{200, "application/octet-stream", "", {}};
  bool more = false;
  const Fd file = request.path.empty() ? Fd() : open_as(request.path, request.user);
  if (!request.path.empty() && !file && errno != ENOENT) {
    return failed(
        {ErrorCode::Io, fmt::format("cannot read {}: {}", request.path, strerrordesc_np(errno))});
  }
  if (file) {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
      return failed({ErrorCode::Refused,
                     fmt::format("{} is not a file that can be read again", request.path)});
    }
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (request.tail >= 0) {
      request.offset = request.tail == 0 ? size : tail_offset(file.get(), size, request.tail);
      request.tail = -1;
    }
    if (request.offset < size) {
      response.body.resize(std::min<std::uint64_t>(kMostAtOnce, size - request.offset));
      const ssize_t got = ::pread(file.get(), response.body.data(), response.body.size(),
                                  static_cast<off_t>(request.offset));
      response.body.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
      more = request.offset + response.body.size() < size;
    }
  }
  if (response.body.empty() && may_wait && request.wait && !request.over) {
    return std::nullopt;
  }
  response.headers = {{"Berth-Attempt", std::to_string(request.attempt)},
                      {"Berth-Offset", std::to_string(request.offset + response.body.size())},
                      {"Berth-More", more           ? "now"
                                     : request.over ? "no"
                                                    : "later"}};
  return response;
}

void LogReader::read(LogRequest request, std::unique_ptr<Responder> reply, Time now) {
  Waiter waiter{std::move(request), std::move(reply), -1, now + kLongestWait};
  std::optional<HttpResponse> response = answer(waiter.request, true);
  if (!response && !waiter.request.path.empty()) {
    // Watched first and looked at again, so that nothing written in between is missed.
    watch(waiter);
    response = answer(waiter.request, true);
    if (response) {
      unwatch(waiter.watch);
    }
  }
  if (response) {
    waiter.reply->respond(std::move(*response));
  } else {
    waiters_.push_back(std::move(waiter));
  }
}

/// A job is known to run a moment before it opens its output: until then its folder is watched.
void LogReader::watch(Waiter& waiter) {
  const std::string& path = waiter.request.path;
  waiter.watch = ::inotify_add_watch(events_.get(), path.c_str(), IN_MODIFY);
  if (waiter.watch < 0 && errno == ENOENT) {
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    waiter.watch = ::inotify_add_watch(events_.get(), folder.c_str(), IN_CREATE | IN_MOVED_TO);
  }
}

void LogReader::unwatch(int watch) {
  // The watch of a file is shared by all that wait for it.
  if (watch >= 0 && std::none_of(waiters_.begin(), waiters_.end(),
                                 [&](const Waiter& other) { return other.watch == watch; })) {
    ::inotify_rm_watch(events_.get(), watch);
  }
}

void LogReader::files_changed() {
  alignas(inotify_event) char buffer[4096];
  std::vector<int> changed;
  for (ssize_t got; (got = ::read(events_.get(), buffer, sizeof buffer)) > 0;) {
    for (ssize_t at = 0; at < got;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      changed.push_back(event->wd);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
  }
  for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
    const bool concerned =
        std::find(changed.begin(), changed.end(), waiter->watch) != changed.end();
    std::optional<HttpResponse> response;
    if (concerned) {
      response = answer(waiter->request, true);
    }
    if (concerned && !response) {
      const int before = std::exchange(waiter->watch, -1);
      watch(*waiter);
      unwatch(before);
      response = answer(waiter->request, true);
    }
    if (!response) {
      ++waiter;
      continue;
    }
    Waiter done = std::move(*waiter);
    waiter = waiters_.erase(waiter);
    unwatch(done.watch);
    done.reply->respond(std::move(*response));
  }
}

void LogReader::job_changed(JobId job, bool over, Time now) {
  for (Waiter& waiter : waiters_) {
    if (waiter.request.job == job) {
      waiter.request.over = waiter.request.over || over;
      waiter.deadline = now;
    }
  }
  expire(now);
}

Time LogReader::next_deadline() const {
  Time next = kNever;
  for (const Waiter& waiter : waiters_) {
    next = std::min(next, waiter.deadline);
  }
  return next;
}

void LogReader::expire(Time now) {
  for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
    if (waiter->deadline > now) {
      ++waiter;
      continue;
    }
    Waiter done = std::move(*waiter);
    waiter = waiters_.erase(waiter);
    unwatch(done.watch);
    done.reply->respond(*answer(done.request, false));
  }
}

}  // namespace berth
