// LogReader: serves the output of jobs, and lets a client wait for more. Nothing is kept for a
// client between two requests, so a stalled client costs nothing. A client asks with the offset
// that it has reached, and the answer comes when there is more, when the attempt is over, or after
// a while.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/http_server.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "daemon/user_files.h"

namespace berth {

/// Which bytes of which file.
struct LogRequest {
  JobId job;
  std::uint16_t attempt = 0;
  std::string path;
  uid_t user = 0;  // the owner of the job; the file is opened with this user's rights
  std::uint64_t offset = 0;
  std::int64_t tail = -1;  // begin with this many last lines instead; -1: not requested
  bool wait = false;       // until there is more
  bool over = false;       // the attempt has ended: there will not be more
};

class LogReader {
 public:
  explicit LogReader(UserFiles& files) : files_(files) {}

  /// Readable when a file that a client waits for has changed; then call files_changed().
  int event_fd() const { return files_.changes(); }
  void files_changed();

  /// Answers now or later.
  void read(LogRequest request, std::unique_ptr<Responder> reply, Time now);
  /// The attempt of this job is over, or there is a new one: clients no longer wait for it.
  void job_changed(JobId job, bool over, Time now);

  /// When the next client has waited long enough; kNever when no client waits.
  Time next_deadline() const;
  void expire(Time now);

 private:
  struct Waiter {
    LogRequest request;
    std::unique_ptr<Responder> reply;
    Time deadline{};
    bool last = false;        // the next look answers it, whatever it finds
    int watch = -1;           // reports more output, once a look has found none
    bool looking = false;     // a look at the file is under way
    bool again = false;       // and must be repeated, because more has happened since
    std::uint64_t began = 0;  // the value of changes_ when the look began
  };

  void look(std::uint64_t id);
  void seen(std::uint64_t id, const Result<FileAnswer>& answer);
  /// The answer, or nothing when the client must wait.
  static std::optional<HttpResponse> answer_for(Waiter& waiter, const FileAnswer& seen);
  void finish(std::uint64_t id, HttpResponse response);
  void unwatch(int watch);
  /// Whether the waiter's watch reported a change before it was known to be the waiter's.
  bool missed(const Waiter& waiter) const;
  void note_changes(const std::vector<int>& watches);

  UserFiles& files_;
  std::map<std::uint64_t, Waiter> waiters_;
  std::uint64_t next_ = 0;  // the number of the next waiter
  // A look may take a while and return a watch that has reported changes in the meantime. These
  // changes are remembered while looks are under way.
  int looks_ = 0;
  std::uint64_t changes_ = 0;             // how often changes were read
  std::map<int, std::uint64_t> changed_;  // the value of changes_ at the last change of each watch
  std::uint64_t all_changed_ = 0;         // the same for all watches, when there were too many
};

}  // namespace berth
