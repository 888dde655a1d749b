#include "daemon/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace berth {
namespace {

constexpr std::size_t kMostKept = 50'000;
/// More than this is slower to tell one by one than to read anew.
constexpr std::size_t kMostMissed = 2'000;

}  // namespace

void EventHub::jobs_submitted(JobId first, std::uint64_t count) {
  keep({0, {}, "submitted", fmt::format(R"({{"first":{},"count":{}}})", first.value, count)});
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
  if (!streams_.empty()) {
    for (std::size_t i = kept_.size() - unsent_; i < kept_.size(); ++i) {
      send(kept_[i]);
    }
  }
  unsent_ = 0;
}

void EventHub::send(const Event& event) {
  std::erase_if(streams_, [&](const std::shared_ptr<EventStream>& stream) {
    return !send_to(*stream, event);
  });
}

bool EventHub::send_to(EventStream& stream, const Event& event) const {
  if (event.name != "job") {
    return stream.send(event.id, event.name, event.data);
  }
  const std::string data = describe_(event.job);
  return data.empty() || stream.send(event.id, event.name, data);
}

void EventHub::tell_listeners(std::string_view event, std::string_view data) {
  std::erase_if(streams_, [&](const std::shared_ptr<EventStream>& stream) {
    return !stream->send(next_ - 1, event, data);
  });
}

void EventHub::listen(std::unique_ptr<Responder> reply, std::string_view last_seen) {
  flush();
  std::shared_ptr<EventStream> stream = reply->stream();
  std::uint64_t last = 0;
  const auto read = std::from_chars(last_seen.data(), last_seen.data() + last_seen.size(), last);
  const bool known = read.ec == std::errc() && read.ptr == last_seen.data() + last_seen.size() &&
                     last < next_ && next_ - 1 - last <= std::min(kMostMissed, kept_.size());
  bool open = true;
  if (known) {
    std::set<JobId> told;  // the newest state of a job says all, so once is enough
    for (std::size_t i = kept_.size() - (next_ - 1 - last); i < kept_.size() && open; ++i) {
      const Event& event = kept_[i];
      open = (event.name == "job" && !told.insert(event.job).second) || send_to(*stream, event);
    }
  }
  if (!known || last == next_ - 1) {
    // Also tells a new client the number from which it may resume.
    open = stream->send(next_ - 1, last_seen.empty() || known ? "hello" : "reset", "{}");
  }
  if (open) {
    streams_.push_back(std::move(stream));
  }
}

}  // namespace berth
