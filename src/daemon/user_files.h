// UserFiles: looks at files whose paths users have chosen, with the rights of the user concerned
// and no others. Owned by the loop's thread, which watches event_fd().
//
// Files of the daemon's own user are looked at on the spot. For another user a helper does it: a
// process of that user, which may be sent anywhere by a link and may hang for ever in a file system
// of the user's making (also beyond any signal, which is why it is no thread: a daemon with such a
// thread could not end). A helper answers one question after the other and goes when it has been
// idle. One that does not answer in time is killed and the asker told so; a user of whom several
// hang gets no more of them.
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
  /// Called once, before ask() returns or later from take_answers(). An error when the files of the
  /// user do not answer.
  using Done = std::function<void(const Result<FileAnswer>&)>;
  using Log = std::function<void(const std::string&)>;

  /// `log` is told of helpers that hang.
  explicit UserFiles(Log log);
  UserFiles(const UserFiles&) = delete;
  UserFiles& operator=(const UserFiles&) = delete;
  /// What has not been answered will not be. Helpers that hang are left behind.
  ~UserFiles() = default;

  void ask(uid_t user, FileQuestion question, Done done);

  /// Readable when take_answers() has something to do.
  int event_fd() const { return epoll_.get(); }
  void take_answers();

  /// The inotify instance in which answers have their watches.
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
    bool asked = false;         // the first of those that wait
    Clock::time_point since{};  // that it is, or is idle
  };
  struct User {
    std::optional<Helper> helper;
    std::deque<Question> waiting;
  };
  /// A helper that was told to end, and has not yet.
  struct Ending {
    uid_t user = 0;
    bool hangs = false;
    Fd process;
  };

  bool watch(int fd) const;
  bool start_helper(uid_t user, User& files);
  void end_helper(uid_t user, User& files, bool hangs);
  /// Asks what is next, if there is somebody to ask.
  void advance(uid_t user);
  void finish_first(uid_t user, const Result<FileAnswer>& answer);
  void read_answer(uid_t user);
  void set_timer();

  Log log_;
  Fd epoll_;
  Fd timer_;
  Fd changes_;
  std::map<uid_t, User> users_;  // with a helper, or something to ask
  std::list<Ending> ending_;
};

/// A helper's life, in a process of its own: becomes that user and answers until nobody asks.
int serve_user_files(uid_t user);

}  // namespace berth
