#include "daemon/log_reader.h"

#include <fmt/format.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "api/messages/log.h"
#include "daemon/replies.h"

namespace berth {
namespace {

constexpr std::size_t kLogBytesAtOnce = std::size_t{256} << 10;
constexpr Duration kLongestWait = std::chrono::seconds(30);
/// Watches that are remembered one by one.
constexpr std::size_t kMostChanged = 10'000;
/// What the kernel calls the watch of changes that it has lost.
constexpr int kLostChanges = -1;

}  // namespace

void LogReader::read(LogRequest request, std::unique_ptr<Responder> reply, Time now) {
  const std::uint64_t id = next_++;
  Waiter& waiter = waiters_[id];
  waiter.request = std::move(request);
  waiter.reply = std::move(reply);
  waiter.deadline = now + kLongestWait;
  look(id);
}

/// What it sees comes at once, or later.
void LogReader::look(std::uint64_t id) {
  const auto found = waiters_.find(id);
  if (found == waiters_.end()) {
    return;  // answered meanwhile
  }
  Waiter& waiter = found->second;
  if (waiter.looking) {
    waiter.again = true;
    return;
  }
  waiter.looking = true;
  waiter.again = false;
  waiter.began = changes_;
  ++looks_;
  const LogRequest& request = waiter.request;
  if (request.path.empty()) {  // no attempt has begun
    FileAnswer nothing;
    nothing.error = ENOENT;
    return seen(id, nothing);
  }
  FileQuestion question;
  question.path = request.path;
  question.offset = request.offset;
  question.tail = request.tail;
  question.most = kLogBytesAtOnce;
  question.watch = request.wait && !request.over && !waiter.last;
  files_.ask(request.user, std::move(question),
             [this, id](const Result<FileAnswer>& answer) { seen(id, answer); });
}

void LogReader::seen(std::uint64_t id, const Result<FileAnswer>& answer) {
  Waiter& waiter = waiters_.at(id);
  waiter.looking = false;
  const int before = std::exchange(waiter.watch, answer ? answer->watch : -1);
  const bool missed_one = missed(waiter);
  if (--looks_ == 0) {
    changed_.clear();
  }
  if (before != waiter.watch) {
    unwatch(before);
  }
  if (!answer) {
    return finish(id, failed(answer.error()));
  }
  if (std::optional<HttpResponse> response = answer_for(waiter, *answer)) {
    return finish(id, std::move(*response));
  }
  if (waiter.again || missed_one) {
    look(id);
  }
}

std::optional<HttpResponse> LogReader::answer_for(Waiter& waiter, const FileAnswer& seen) {
  LogRequest& request = waiter.request;
  if (seen.refused) {
    return failed(
        {ErrorCode::Refused, fmt::format("{} is not a file that can be read again", request.path)});
  }
  if (seen.error != 0 && seen.error != ENOENT) {
    return failed({ErrorCode::Io,
                   fmt::format("cannot read {}: {}", request.path, std::strerror(seen.error))});
  }
  if (seen.error == 0) {
    request.offset = seen.offset;
    request.tail = -1;
  }
  if (seen.bytes.empty() && (waiter.again || (request.wait && !request.over && !waiter.last))) {
    return std::nullopt;
  }
  const std::uint64_t end = request.offset + seen.bytes.size();
  const bool more = !seen.bytes.empty() && end < seen.size;
  HttpResponse response{200, "application/octet-stream", seen.bytes, {}};
  using More = LogReply::More;
  response.headers = to_headers({request.attempt, static_cast<std::int64_t>(end),
                                 more           ? More::Now
                                 : request.over ? More::No
                                                : More::Later});
  return response;
}

void LogReader::finish(std::uint64_t id, HttpResponse response) {
  const Waiter done = std::move(waiters_.extract(id).mapped());
  unwatch(done.watch);
  done.reply->respond(std::move(response));
}

void LogReader::unwatch(int watch) {
  // The watch of a file is shared by all that wait for it. A look that is under way and comes back
  // with it hears of its end as of a change.
  if (watch >= 0 && std::none_of(waiters_.begin(), waiters_.end(),
                                 [&](const auto& other) { return other.second.watch == watch; })) {
    ::inotify_rm_watch(files_.changes(), watch);
  }
}

bool LogReader::missed(const Waiter& waiter) const {
  const auto found = changed_.find(waiter.watch);
  return all_changed_ > waiter.began || (found != changed_.end() && found->second > waiter.began);
}

void LogReader::note_changes(const std::vector<int>& watches) {
  ++changes_;
  if (looks_ == 0) {
    return;
  }
  for (const int watch : watches) {
    changed_[watch] = changes_;
  }
  if (changed_.size() > kMostChanged || changed_.contains(kLostChanges)) {
    changed_.clear();
    all_changed_ = changes_;
  }
}

void LogReader::files_changed() {
  alignas(inotify_event) char buffer[4096];
  std::vector<int> changed;
  for (ssize_t got; (got = ::read(files_.changes(), buffer, sizeof buffer)) > 0;) {
    for (ssize_t at = 0; at < got;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      changed.push_back(event->wd);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
  }
  note_changes(changed);
  const auto told = [&](int watch) {
    return std::find(changed.begin(), changed.end(), watch) != changed.end();
  };
  std::vector<std::uint64_t> concerned;
  for (const auto& [id, waiter] : waiters_) {
    if (told(waiter.watch) || told(kLostChanges)) {
      concerned.push_back(id);
    }
  }
  for (const std::uint64_t id : concerned) {
    look(id);
  }
}

void LogReader::job_changed(JobId job, bool over, Time now) {
  for (auto& [id, waiter] : waiters_) {
    if (waiter.request.job == job) {
      waiter.request.over = waiter.request.over || over;
      waiter.deadline = now;
    }
  }
  expire(now);
}

Time LogReader::next_deadline() const {
  Time next = kNever;
  for (const auto& [id, waiter] : waiters_) {
    next = std::min(next, waiter.deadline);
  }
  return next;
}

/// The last look: what it sees is the answer.
void LogReader::expire(Time now) {
  std::vector<std::uint64_t> over;
  for (auto& [id, waiter] : waiters_) {
    if (waiter.deadline <= now) {
      waiter.deadline = kNever;
      waiter.last = true;
      over.push_back(id);
    }
  }
  for (const std::uint64_t id : over) {
    look(id);
  }
}

}  // namespace berth
