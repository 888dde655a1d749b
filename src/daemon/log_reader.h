// LogReader: gives out what jobs have written, and lets a client wait for more. Nothing is kept for
// a client between two requests, so one that stalls costs nothing: it asks with the offset that it
// has come to, and the answer comes when there is more, when the attempt is over, or after a while.
#pragma once

#include <sys/types.h>

#include <list>
#include <memory>
#include <optional>
#include <string>

#include "api/http_server.h"
#include "base/fd.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"

namespace berth {

/// Which bytes of which file.
struct LogRequest {
  JobId job;
  std::uint16_t attempt = 0;
  std::string path;
  uid_t user = 0;  // whose job it is: the file is opened with that user's rights
  std::uint64_t offset = 0;
  std::int64_t tail = -1;  // begin with the last so many lines instead; -1: not asked for
  bool wait = false;       // until there is more
  bool over = false;       // the attempt has ended: there will not be more
};

/// The last bytes of a file, with that user's rights; empty where it cannot be read.
std::string read_tail(const std::string& path, uid_t user, std::size_t most);

class LogReader {
 public:
  LogReader();

  /// Readable when a file that somebody waits for has changed; then call files_changed().
  int event_fd() const { return events_.get(); }
  void files_changed();

  /// Answers now or later.
  void read(LogRequest request, std::unique_ptr<Responder> reply, Time now);
  /// The attempt of this job is over (or there is a new one): nobody waits for it any more.
  void job_changed(JobId job, bool over, Time now);

  /// When the next one has waited long enough; kNever: nobody waits.
  Time next_deadline() const;
  void expire(Time now);

 private:
  struct Waiter {
    LogRequest request;
    std::unique_ptr<Responder> reply;
    int watch = -1;
    Time deadline{};
  };

  /// The answer, or nothing when it must wait.
  std::optional<HttpResponse> answer(LogRequest& request, bool may_wait) const;
  void watch(Waiter& waiter);
  void unwatch(int watch);

  Fd events_;  // inotify
  std::list<Waiter> waiters_;
};

}  // namespace berth
