// UserFiles: looks at files whose paths users have chosen, with the rights of the user concerned
// and no others. Owned by the loop's thread, which watches event_fd().
//
// Files of the daemon's own user are looked at directly. For another user, a helper process of that
// user does it. A link may send the helper anywhere, and the helper may hang forever in a file
// system that the user made, even beyond any signal. That is why it is not a thread: a daemon with
// such a thread could not end. A helper answers one question after the other and exits when it has
// been idle. A helper that does not answer in time is killed, and the caller is told. A user with
// several hanging helpers gets no more of them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "daemon/output_file.h"

namespace berth {

class UserFiles {
 public:
  /// Called once, before ask() returns or later from take_answers(). An error when the user's files
  /// do not answer.
  using Done = std::function<void(const Result<FileAnswer>&)>;
  using Log = std::function<void(const std::string&)>;

  /// `log` is told about helpers that hang.
  explicit UserFiles(Log log);
  UserFiles(const UserFiles&) = delete;
  UserFiles& operator=(const UserFiles&) = delete;
  /// Open questions are not answered any more. Helpers that hang are left behind.
  ~UserFiles() = default;

  void ask(uid_t user, FileQuestion question, Done done);

  /// Readable when take_answers() has something to do.
  int event_fd() const { return epoll_.get(); }
  void take_answers();

  /// The inotify instance that holds the watches of answers.
  int changes() const { return changes_.get(); }

 private:
  using Clock = std::chrono::steady_clock;

  struct Question {
    FileQuestion what;
    Done done;
  };
  struct Helper {
    Fd socket;
    Fd process;
    bool asked = false;         // it was asked the first waiting question
    Clock::time_point since{};  // when it was asked or became idle
  };
  struct User {
    std::optional<Helper> helper;
    std::deque<Question> waiting;
  };
  /// A helper that was told to end, but has not ended yet.
  struct Ending {
    uid_t user = 0;
    bool hangs = false;
    Fd process;
  };

  bool watch(int fd) const;
  bool start_helper(uid_t user, User& files);
  void end_helper(uid_t user, User& files, bool hangs);
  /// Asks the user's helper the next question, if the helper is free.
  void advance(uid_t user);
  void finish_first(uid_t user, const Result<FileAnswer>& answer);
  void read_answer(uid_t user);
  void set_timer();

  Log log_;
  Fd epoll_;
  Fd timer_;
  Fd changes_;
  std::map<uid_t, User> users_;  // users with a helper or a waiting question
  std::list<Ending> ending_;
};

/// Runs a helper in a process of its own: becomes the user and answers until no more questions
/// come.
int serve_user_files(uid_t user);

}  // namespace berth
