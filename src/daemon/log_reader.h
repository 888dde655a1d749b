// LogReader: gives out what jobs have written, and lets a client wait for more. Nothing is kept for
// a client between two requests, so one that stalls costs nothing: it asks with the offset that it
// has come to, and the answer comes when there is more, when the attempt is over, or after a while.
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
  uid_t user = 0;  // whose job it is: the file is opened with that user's rights
  std::uint64_t offset = 0;
  std::int64_t tail = -1;  // begin with the last so many lines instead; -1: not asked for
  bool wait = false;       // until there is more
  bool over = false;       // the attempt has ended: there will not be more
};

class LogReader {
 public:
  explicit LogReader(UserFiles& files) : files_(files) {}

  /// Readable when a file that somebody waits for has changed; then call files_changed().
  int event_fd() const { return files_.changes(); }
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
    Time deadline{};
    bool last = false;        // answered by the next look, whatever it sees
    int watch = -1;           // what tells of more, once a look has found nothing
    bool looking = false;     // somebody looks at the file
    bool again = false;       // and must do so again, because more has happened since
    std::uint64_t began = 0;  // how many changes had been read when the look began
  };

  void look(std::uint64_t id);
  void seen(std::uint64_t id, const Result<FileAnswer>& answer);
  /// The answer, or nothing when it must wait.
  static std::optional<HttpResponse> answer_for(Waiter& waiter, const FileAnswer& seen);
  void finish(std::uint64_t id, HttpResponse response);
  void unwatch(int watch);
  /// Whether its watch told of something before anybody knew whose watch it is.
  bool missed(const Waiter& waiter) const;
  void note_changes(const std::vector<int>& watches);

  UserFiles& files_;
  std::map<std::uint64_t, Waiter> waiters_;
  std::uint64_t next_ = 0;  // the number of the next waiter
  // A look may take a while and come back with a watch that has told of changes in the meantime:
  // these are remembered while there are looks.
  int looks_ = 0;
  std::uint64_t changes_ = 0;             // how often some were read
  std::map<int, std::uint64_t> changed_;  // which then was the last for this watch
  std::uint64_t all_changed_ = 0;         // or, when there were too many, for all of them
};

}  // namespace berth
