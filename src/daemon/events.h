// EventHub: tells listening clients what has changed. Events are numbered. A client that comes back
// sends the last number it saw and gets the events it missed. If that is too long ago, it gets a
// `reset` instead, which tells it to read everything anew. A client that listens while too much
// happens at once gets a `reset`, too.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/http_server.h"
#include "base/ids.h"

namespace berth {

class EventHub {
 public:
  /// The present state of a job as JSON, as its user sees it and as others do.
  struct Described {
    std::string full;    // empty: the job is gone
    std::string hidden;  // empty: others see the same
    uid_t user = 0;
  };
  using Describe = std::function<Described(JobId)>;

  struct Listener {
    uid_t user = 0;
    bool sees_all = true;  // also what is hidden from others
  };

  /// `first` must be above every number that an earlier process gave out.
  EventHub(std::uint64_t first, Describe describe) : next_(first), describe_(std::move(describe)) {}

  /// Event `job`. Several changes in one turn are one event.
  void job_changed(JobId job) { changed_.insert(job); }
  /// Event `submitted`, for jobs with consecutive numbers.
  void jobs_submitted(JobId first, std::uint64_t count);
  /// Event `forgotten`, `daemon` or another that does not carry the state of a job.
  void announce(std::string_view event, std::string data);
  /// Sends an event to the present listeners. It is not kept for clients that come back.
  void tell_listeners(std::string_view event, std::string_view data);

  /// Sends the events of a turn, at its end.
  void flush();

  /// `last_seen`: the Last-Event-ID of the client, empty for a new one. If the client missed more
  /// than its stream can hold, that counts as too long ago.
  void listen(std::unique_ptr<Responder> reply, std::string_view last_seen, Listener listener);
  /// The newest event that has been sent. A client that reads something now and then listens from
  /// here on misses nothing.
  std::uint64_t newest() const { return next_ - 1 - unsent_; }
  bool has_listeners() const { return !streams_.empty(); }
  std::size_t listeners() const { return streams_.size(); }

 private:
  struct Event {
    std::uint64_t id = 0;
    JobId job;         // of a `job` event; the data is read when it is sent
    std::string name;  // `job`, or the name of another event
    std::string data;
  };

  struct Stream {
    std::shared_ptr<EventStream> out;
    Listener listener;
  };

  void keep(Event event);
  void send(std::uint64_t id, std::string_view event, const Described& data);
  Described data_of(const Event& event) const;
  static const std::string& seen_by(const Listener& listener, const Described& data);
  /// The events after event `last`, which must be a kept event or the one just before them.
  std::vector<const Event*> since(std::uint64_t last) const;

  std::uint64_t next_;
  Describe describe_;
  std::set<JobId> changed_;  // in this turn
  std::deque<Event> kept_;   // without gaps, the newest last
  std::size_t unsent_ = 0;   // how many at its end are not sent yet
  std::vector<Stream> streams_;
};

}  // namespace berth
