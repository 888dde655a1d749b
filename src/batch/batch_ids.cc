#include "batch/batch_ids.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/fd.h"
#include "base/paths.h"

namespace berth {
namespace {

/// More than these are no counter's.
constexpr std::uint64_t kMostIds = 1'000'000'000'000;

/// 1 where nothing sensible is written: a counter that a crash has torn, or a new one.
std::uint64_t next_batch_id(int file) {
  char text[32];
  const ssize_t size = ::pread(file, text, sizeof text, 0);
  std::uint64_t next = 0;
  const auto [end, error] = std::from_chars(text, text + std::max<ssize_t>(size, 0), next);
  return error == std::errc() && next >= 1 && next <= kMostIds ? next : 1;
}

}  // namespace

Result<std::uint64_t> take_batch_ids(const std::string& path, std::uint64_t count,
                                     std::uint64_t least) {
  if (const Result<void> made = make_folder(path.substr(0, path.rfind('/'))); !made) {
    return Failure(made.error());
  }
  const Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) {
    return fail_errno(fmt::format("cannot count ids in {}", path), errno);
  }
  while (::flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) {
      return fail_errno(fmt::format("cannot lock {}", path), errno);
    }
  }
  const std::uint64_t first = std::max(next_batch_id(file.get()), least);
  const std::string text = fmt::format("{}\n", first + count);
  if (::pwrite(file.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) ||
      ::fdatasync(file.get()) != 0) {
    return fail_errno(fmt::format("cannot count ids in {}", path), errno);
  }
  return first;
}

}  // namespace berth
