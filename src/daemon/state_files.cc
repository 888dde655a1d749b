#include "daemon/state_files.h"

#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

namespace berth {
namespace {

constexpr std::uint32_t kSelf = IN_DELETE_SELF | IN_MOVE_SELF;
constexpr std::uint32_t kNames = IN_DELETE | IN_MOVED_FROM;

bool disk_has_room(const std::string& folder, uid_t user) {
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) {
    return true;  // whatever is wrong there, waiting does not mend it
  }
  const bool blocks = (user == 0 ? disk.f_bfree : disk.f_bavail) > 0;
  const bool files = disk.f_files == 0 || (user == 0 ? disk.f_ffree : disk.f_favail) > 0;
  return blocks && files;
}

}  // namespace

StateFiles::StateFiles(const Paths& paths, bool everyone)
    : paths_(paths), everyone_(everyone), events_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  watch();
}

void StateFiles::watch() {
  for (const std::string& folder : {paths_.state, paths_.runtime}) {
    (void)::inotify_add_watch(events_.get(), folder.c_str(), kNames | kSelf | IN_ONLYDIR);
  }
}

StateFiles::Gone StateFiles::take() {
  Gone gone;
  alignas(inotify_event) char buffer[4096];
  for (ssize_t got = 0; (got = ::read(events_.get(), buffer, sizeof buffer)) > 0;) {
    for (const char* at = buffer; at < buffer + got;) {
      inotify_event event{};
      std::memcpy(&event, at, sizeof event);
      const std::string_view name(event.len > 0 ? at + sizeof event : "");
      const bool all = (event.mask & (kSelf | IN_Q_OVERFLOW)) != 0;
      gone.database |= all || name.starts_with("berth.db");
      gone.socket |= all || name == "berth.sock";
      gone.log |= all || name == "daemon.log";
      at += sizeof event + event.len;
    }
  }
  return gone;
}

bool StateFiles::make_logs() const {
  if (::mkdir(logs().c_str(), 0700) != 0) {
    return true;
  }
  if (everyone_) {
    (void)::chmod(logs().c_str(), 0711);
  }
  return false;
}

bool StateFiles::has_room(uid_t user, bool with_log) const {
  return (!with_log || disk_has_room(logs(), user)) &&
         disk_has_room(paths_.state + "/jobs", ::geteuid());
}

}  // namespace berth
