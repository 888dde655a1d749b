// The helper of UserFiles. It has the two descriptors that it was started with, and knows nothing.
#include <grp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/user.h"
#include "daemon/user_files.h"
#include "daemon/user_files_wire.h"

namespace berth {
namespace {

constexpr gid_t kNoGroup = 65534;

/// For good. A user who is in the database no longer still owns files, by number alone.
bool become(uid_t user) {
  const Result<UserIdentity> found = find_user(user);
  if (!found && found.error().code != ErrorCode::NotFound) {
    return false;
  }
  const UserIdentity identity = found ? *found : UserIdentity{user, kNoGroup, {}, "", ""};
  // Nobody reads its memory or takes its descriptors, though it is that user's process now.
  return ::setgroups(identity.groups.size(), identity.groups.data()) == 0 &&
         ::setresgid(identity.group, identity.group, identity.group) == 0 &&
         ::setresuid(user, user, user) == 0 && ::prctl(PR_SET_DUMPABLE, 0) == 0;
}

}  // namespace

int serve_user_files(uid_t user) {
  (void)::prctl(PR_SET_NAME, "berth-files");
  if (!become(user)) {
    return 1;
  }
  std::string message;
  for (;;) {
    message.resize(kMostInMessage);
    const ssize_t got = ::recv(kHelperSocket, message.data(), message.size(), 0);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return 0;  // nobody asks any more
    }
    Result<FileQuestion> question =
        decode_question(std::string_view(message).substr(0, static_cast<std::size_t>(got)));
    if (!question) {
      return 1;
    }
    question->most = std::min(question->most, kMostBytes);
    const std::string answer = encode_answer(look_at(*question, kHelperChanges));
    if (::send(kHelperSocket, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) {
      return 0;
    }
  }
}

}  // namespace berth
