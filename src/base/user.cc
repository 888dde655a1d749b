#include "base/user.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>

#include <cerrno>

namespace berth {

Result<UserIdentity> find_user(uid_t user) {
  // The reentrant form: several threads look users up.
  std::vector<char> texts(std::size_t{16} * 1024);
  passwd entry{};
  passwd* found = nullptr;
  int error = 0;
  while ((error = ::getpwuid_r(user, &entry, texts.data(), texts.size(), &found)) == ERANGE) {
    texts.resize(2 * texts.size());
  }
  if (found == nullptr) {
    return error != 0 ? fail_errno(fmt::format("cannot look up user {}", user), error)
                      : fail(ErrorCode::NotFound,
                             fmt::format("there is no user {} on this machine", user));
  }
  UserIdentity identity{user, entry.pw_gid, {}, entry.pw_name, entry.pw_dir};
  int count = 64;
  identity.groups.resize(static_cast<std::size_t>(count));
  while (::getgrouplist(entry.pw_name, entry.pw_gid, identity.groups.data(), &count) < 0) {
    identity.groups.resize(static_cast<std::size_t>(count));
  }
  identity.groups.resize(static_cast<std::size_t>(count));
  return identity;
}

}  // namespace berth
