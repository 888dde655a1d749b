#include "daemon/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "api/messages/events.h"

namespace berth {
namespace {

constexpr std::size_t kMostKept = 50'000;
/// More than this is slower to tell one by one than to read anew.
constexpr std::size_t kMostMissed = 2'000;
/// Bytes of a turn, to all who listen together: copying more would hold everybody up.
constexpr std::size_t kFlushedAtOnce = std::size_t{1} << 20;
/// What an event takes beside its data, about.
constexpr std::size_t kFrame = 64;

}  // namespace

void EventHub::jobs_submitted(JobId first, std::uint64_t count) {
  keep({0, {}, "submitted", to_json(SubmittedEvent{first, count})});
}

void EventHub::announce(std::string_view event, std::string data) {
  keep({0, {}, std::string(event), std::move(data)});
}

void EventHub::keep(Event event) {
  event.id = next_++;
  kept_.push_back(std::move(event));
  ++unsent_;
  if (kept_.size() > kMostKept) {
    kept_.pop_front();
    unsent_ = std::min(unsent_, kept_.size());
  }
}

void EventHub::flush() {
  for (const JobId job : changed_) {
    keep({0, job, "job", ""});
  }
  changed_.clear();
  const std::size_t fresh = std::exchange(unsent_, 0);
  if (streams_.empty()) {
    return;
  }
  if (fresh > kMostMissed) {
    send(next_ - 1, "reset", {"{}", "", 0});
    return;
  }
  std::size_t room = kFlushedAtOnce;
  for (std::size_t i = kept_.size() - fresh; i < kept_.size(); ++i) {
    // Read once, however many listen.
    const Described data = data_of(kept_[i]);
    const std::size_t length = data.full.size() * streams_.size();
    if (length > room) {
      send(next_ - 1, "reset", {"{}", "", 0});
      return;
    }
    room -= length;
    if (!data.full.empty()) {
      send(kept_[i].id, kept_[i].name, data);
    }
  }
}

void EventHub::send(std::uint64_t id, std::string_view event, const Described& data) {
  std::erase_if(streams_, [&](const Stream& stream) {
    return !stream.out->send(id, event, seen_by(stream.listener, data));
  });
}

EventHub::Described EventHub::data_of(const Event& event) const {
  return event.name == "job" ? describe_(event.job) : Described{event.data, "", 0};
}

const std::string& EventHub::seen_by(const Listener& listener, const Described& data) {
  const bool sees = listener.sees_all || listener.user == data.user || data.hidden.empty();
  return sees ? data.full : data.hidden;
}

void EventHub::tell_listeners(std::string_view event, std::string_view data) {
  // With the number of what they have got: whoever comes back with it must not miss what this turn
  // has brought and will send at its end.
  send(newest(), event, {std::string(data), "", 0});
}

std::vector<const EventHub::Event*> EventHub::since(std::uint64_t last) const {
  std::vector<const Event*> missed;
  std::set<JobId> told;
  for (std::size_t i = kept_.size(); i > kept_.size() - (next_ - 1 - last); --i) {
    const Event& event = kept_[i - 1];
    // The newest state of a job says all, so once is enough: under its newest number, or it would
    // be told again to a client that goes and comes back.
    if (event.name != "job" || told.insert(event.job).second) {
      missed.push_back(&event);
    }
  }
  std::reverse(missed.begin(), missed.end());
  return missed;
}

void EventHub::listen(std::unique_ptr<Responder> reply, std::string_view last_seen,
                      Listener listener) {
  flush();
  std::shared_ptr<EventStream> stream = reply->stream();
  std::uint64_t last = 0;
  const auto read = std::from_chars(last_seen.data(), last_seen.data() + last_seen.size(), last);
  bool known = read.ec == std::errc() && read.ptr == last_seen.data() + last_seen.size() &&
               last < next_ && next_ - 1 - last <= std::min(kMostMissed, kept_.size());
  std::vector<std::pair<const Event*, std::string>> missed;
  std::size_t length = 0;
  for (const Event* event : known ? since(last) : std::vector<const Event*>()) {
    if (const Described data = data_of(*event); !data.full.empty()) {
      missed.emplace_back(event, seen_by(listener, data));
      length += missed.back().second.size() + kFrame;
    }
    if (length > stream->room()) {
      // Cut off in the middle it would come back for the same, again and again.
      known = false;
      missed.clear();
      break;
    }
  }
  bool open = true;
  for (const auto& [event, data] : missed) {
    open = open && stream->send(event->id, event->name, data);
  }
  if (missed.empty()) {
    // Also tells a new client the number from which it may resume.
    open = stream->send(next_ - 1, last_seen.empty() || known ? "hello" : "reset", "{}");
  }
  if (open) {
    streams_.push_back({std::move(stream), listener});
  }
}

}  // namespace berth
