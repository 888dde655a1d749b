// Sessions: the users who have signed in to the web page. `berth ui` asks for a code and puts it
// into a link. The page gives the code back once and gets a token, which it shows from then on.
// Pure: time and random texts come from outside, and the daemon keeps text() in a file.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/access.h"
#include "base/time.h"

namespace berth {

class Sessions {
 public:
  /// A link that is not followed within this time is dead.
  static constexpr Duration kCodeLife = std::chrono::minutes(2);
  /// A session that is not used for this time is dead.
  static constexpr Duration kUnused = std::chrono::hours(24) * 30;

  Sessions() = default;
  /// `text` is a result of text(). A line that makes no sense is omitted: its user must sign in
  /// again.
  explicit Sessions(std::string_view text);

  void add_code(std::string code, uid_t user, Time now);
  /// Turns a code into a session with this token, and returns its user. A code works once. If the
  /// user of the asking process is known (else kNobody), the code works only for its own user,
  /// because other users could have seen the link among the arguments of the browser. The superuser
  /// may use any code; it can do anything.
  std::optional<uid_t> begin(std::string_view code, std::string token, Time now,
                             uid_t process = kNobody);
  /// The user of the token. Counts as a use of the session.
  std::optional<Peer> find(std::string_view token, Time now);
  void end(std::uint64_t number);
  void end_all();

  std::string text() const;
  /// Whether text() has changed since it was last saved.
  bool changed() const { return changed_; }
  void saved() { changed_ = false; }

 private:
  struct Code {
    std::string text;
    uid_t user;
    Time expires;
  };
  struct Session {
    std::uint64_t number;
    std::string token;
    uid_t user;
    Time used;  // to the day, so that a session in use is not saved at each request
  };

  void add(std::string token, uid_t user, Time used);

  std::vector<Code> codes_;
  std::vector<Session> sessions_;  // least recently used first, as far as `used` tells
  std::uint64_t last_number_ = 0;
  bool changed_ = false;
};

}  // namespace berth
