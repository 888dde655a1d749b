#include "store/redo_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/failpoint.h"
#include "store/coding.h"

namespace berth {
namespace {

/// Large enough that the database's own commits are rare, small enough that one is short.
constexpr std::uint64_t kSize = std::uint64_t{2} << 20;

/// Before the bytes of each entry, in the byte order of the machine.
struct Head {
  std::uint64_t number;
  std::uint64_t size;
  std::uint64_t hash;  // of the bytes, and of the two above
};

Head head_of(std::uint64_t number, std::string_view entry) {
  return {number, entry.size(),
          content_hash(entry) ^ (number * 0x9e3779b97f4a7c15ULL) ^ (entry.size() << 32)};
}

bool write_all(int file, std::string_view bytes, std::uint64_t at) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
    at += static_cast<std::uint64_t>(written);
  }
  return true;
}

}  // namespace

RedoLog RedoLog::open(const std::string& path) {
  RedoLog log;
  log.file_ = Fd(::open((path + "-redo").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  struct stat status {};
  if (!log.file_ || ::fstat(log.file_.get(), &status) != 0) {
    return log;
  }
  // Written through rather than left sparse: blocks that are found at the first write of an entry
  // would have to be synced with it, and might not be there.
  const auto present = static_cast<std::uint64_t>(status.st_size);
  if (present < kSize) {
    const std::string zeros(kSize - present, '\0');
    if (!write_all(log.file_.get(), zeros, present) || ::fsync(log.file_.get()) != 0) {
      (void)!::ftruncate(log.file_.get(), status.st_size);
      log.size_ = present;
      return log;
    }
  }
  log.size_ = kSize;
  return log;
}

bool RedoLog::holds_entries(const std::string& path) {
  const Fd file(::open((path + "-redo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  Head head{};
  return file && ::pread(file.get(), &head, sizeof head, 0) == ssize_t{sizeof head} &&
         head.number != 0;
}

void RedoLog::wipe() {
  clear();
  const Head none{};
  if (file_ && size_ >= sizeof none) {
    // Unsynced: an entry that comes back is one that the database has.
    (void)write_all(file_.get(), {reinterpret_cast<const char*>(&none), sizeof none}, 0);
  }
}

std::vector<std::string> RedoLog::recover(std::uint64_t applied) {
  std::vector<std::string> entries;
  std::string bytes(size_, '\0');
  if (!file_ ||
      ::pread(file_.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return entries;
  }
  std::string_view rest = bytes;
  Head head{};
  while (rest.size() >= sizeof head) {
    std::memcpy(&head, rest.data(), sizeof head);
    rest.remove_prefix(sizeof head);
    if (head.number != applied + 1 + entries.size() || head.size > rest.size()) {
      break;
    }
    const std::string_view entry = rest.substr(0, head.size);
    if (head.hash != head_of(head.number, entry).hash) {
      break;
    }
    entries.emplace_back(entry);
    rest.remove_prefix(head.size);
    end_ = synced_ = size_ - rest.size();
  }
  return entries;
}

std::size_t RedoLog::room() const {
  return size_ - end_ < sizeof(Head) ? 0 : size_ - end_ - sizeof(Head);
}

Result<void> RedoLog::append(std::uint64_t number, std::string_view entry) {
  const Head head = head_of(number, entry);
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  bytes += entry;
  int error = BERTH_FAILPOINT("store.redo");
  if (error == 0 && !write_all(file_.get(), bytes, end_)) {
    error = errno;
  }
  if (error != 0) {
    return fail_errno("cannot write the queue to disk", error);
  }
  end_ += bytes.size();
  return {};
}

Result<void> RedoLog::sync() {
  int error = BERTH_FAILPOINT("store.sync");
  if (error == 0 && ::fdatasync(file_.get()) != 0) {
    error = errno;
  }
  if (error != 0) {
    end_ = synced_;
    return fail_errno("cannot write the queue to disk", error);
  }
  synced_ = end_;
  return {};
}

}  // namespace berth
