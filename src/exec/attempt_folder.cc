#include "exec/attempt_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "base/failpoint.h"
#include "base/paths.h"
#include "base/small_files.h"
#include "exec/job_processes.h"

namespace berth {

Result<AttemptFolder> AttemptFolder::open(std::string path, std::string boot_id) {
  AttemptFolder folder;
  folder.path_ = std::move(path);
  folder.boot_id_ = std::move(boot_id);
  folder.new_ = ::access(folder.path_.c_str(), F_OK) != 0;
  if (Result<void> opened = folder.open_directory(); !opened) {
    return Failure(opened.error());
  }
  return folder;
}

Result<void> AttemptFolder::open_directory() {
  if (Result<void> made = make_folder(path_); !made) {
    return made;
  }
  directory_ = Fd(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return directory_ ? Result<void>()
                    : fail_errno(fmt::format("cannot open the folder {}", path_), errno);
}

bool AttemptFolder::is_deleted() const {
  struct stat found {};
  return ::fstat(directory_.get(), &found) != 0 || found.st_nlink == 0;
}

Result<void> AttemptFolder::make_again() {
  spares_.clear();
  return open_directory();
}

std::string AttemptFolder::path(const AttemptName& name) const {
  return fmt::format("{}/{}", path_, record_name(name));
}

std::optional<std::string> AttemptFolder::read(const std::string& file) const {
  const Fd opened(::openat(directory_.get(), file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened) {
    return std::nullopt;
  }
  char text[8192];  // paths of cgroups are shorter
  const ssize_t size = ::read(opened.get(), text, sizeof text);
  return std::string(text, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
}

std::vector<AttemptName> AttemptFolder::list() const {
  std::set<AttemptName> attempts;
  // A file that gets another name meanwhile may be missed: who asks for its attempt again will be
  // told of it.
  if (BERTH_FAILPOINT("runner.list") != 0) {
    return {};
  }
  for (const std::string& file : names_in(path_)) {
    for (const char* ending : {"", ".exit"}) {
      if (const auto name = parse_record_name(file, ending)) {
        attempts.insert(*name);
      }
    }
  }
  return {attempts.begin(), attempts.end()};
}

std::optional<EndRecord> AttemptFolder::read_end(const AttemptName& name) const {
  std::optional<std::string> text = read(record_name(name, ".exit"));
  if (!text) {
    // A shim that was killed before it could rename the file has told the truth nevertheless.
    text = read(record_name(name));
  }
  return text ? parse_end_record(*text, name) : std::nullopt;
}

bool AttemptFolder::exists(const std::string& file) const {
  return ::faccessat(directory_.get(), file.c_str(), F_OK, 0) == 0;
}

bool AttemptFolder::has(const AttemptName& name) const {
  // In this order: the file may get its last name in between.
  return exists(record_name(name)) || exists(record_name(name, ".exit"));
}

bool AttemptFolder::locked(const AttemptName& name) const {
  const Fd file(::openat(directory_.get(), record_name(name).c_str(), O_RDONLY | O_CLOEXEC));
  return file && ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

Verdict AttemptFolder::judge(const AttemptName& name) const {
  Verdict verdict;
  const std::optional<std::string> text = read(record_name(name));
  if (!text && errno != ENOENT) {
    verdict.kind = Verdict::Kind::Unknown;
    return verdict;
  }
  if (text) {
    verdict.record = parse_attempt_record(*text, name);
  }
  const bool torn = !verdict.record;
  const bool held = locked(name);
  if (verdict.record && verdict.record->boot_id != boot_id_) {
    verdict.record.reset();
  }
  const auto lives = [&](Verdict::Kind kind, Fd process) {
    verdict.process = std::move(process);
    verdict.kind = kind;
    return static_cast<bool>(verdict.process);
  };
  if (verdict.record && held &&
      lives(Verdict::Kind::ShimLives, open_process(verdict.record->shim))) {
    return verdict;
  }
  // Only now that the shim is gone: nobody renames the file any more.
  if (const std::optional<EndRecord> end = read_end(name)) {
    verdict.kind = Verdict::Kind::Ended;
    verdict.end = *end;
    return verdict;
  }
  if (verdict.record && lives(Verdict::Kind::JobLives, open_process(verdict.record->job))) {
    return verdict;
  }
  if (torn && held) {
    // The job's process has its lock, but has not come to writing down who it is.
    for (const pid_t pid : holders(path(name))) {
      Fd process = open_pid(pid);
      const std::vector<pid_t> still = holders(path(name));
      if (process && std::count(still.begin(), still.end(), pid) != 0 &&
          lives(Verdict::Kind::JobLives, std::move(process))) {
        return verdict;
      }
    }
  }
  verdict.kind =
      text || exists(record_name(name, ".exit")) ? Verdict::Kind::Gone : Verdict::Kind::Absent;
  return verdict;
}

void AttemptFolder::signal_holders(const AttemptName& name, int signal) const {
  if (!locked(name)) {
    return;
  }
  std::set<pid_t> seen;
  for (bool more = true; more;) {
    more = false;
    for (const pid_t pid : holders(path(name))) {
      const Fd process = open_pid(pid);
      if (pid == ::getpid() || !process || !seen.insert(pid).second) {
        continue;
      }
      more = true;
      signal_tree(pid, 0, signal);
      signal_process(process.get(), signal);
    }
  }
}

void AttemptFolder::give_up(const AttemptName& name) {
  // The end goes last: an attempt without one would look lost.
  ::unlinkat(directory_.get(), record_name(name).c_str(), 0);
  (void)BERTH_FAILPOINT("runner.between_removals");
  constexpr std::size_t kMostSpares = 64;
  if (spares_.size() < kMostSpares) {
    spares_.push_back(record_name(name, ".exit"));
  } else {
    ::unlinkat(directory_.get(), record_name(name, ".exit").c_str(), 0);
  }
}

void AttemptFolder::remove_spares() {
  for (const std::string& file : std::exchange(spares_, {})) {
    ::unlinkat(directory_.get(), file.c_str(), 0);
  }
}

std::string AttemptFolder::take_spare() {
  if (spares_.empty()) {
    return "";
  }
  std::string file = std::move(spares_.back());
  spares_.pop_back();
  return file;
}

}  // namespace berth
