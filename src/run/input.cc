#include "run/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

namespace berth {

Result<Input> Input::open(const std::string& path, JobReader::Separator separator) {
  Fd owned;
  int fd = 0;
  if (path != "-") {
    owned = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!owned) {
      return fail(ErrorCode::NotFound,
                  fmt::format("cannot read {}: {}", path, strerrordesc_np(errno)));
    }
    fd = owned.get();
  }
  struct stat info {};
  if (::fstat(fd, &info) != 0) {
    return fail_errno(fmt::format("cannot read {}", path), errno);
  }
  if (S_ISDIR(info.st_mode)) {
    return fail(ErrorCode::Usage, fmt::format("cannot read {}: it is a folder", path));
  }
  return Input(std::move(owned), fd, S_ISREG(info.st_mode), separator);
}

Input Input::from_text(std::string text, JobReader::Separator separator) {
  Input input(Fd(), -1, true, separator);
  input.reader_.feed(text);
  input.reader_.finish();
  return input;
}

Result<bool> Input::read_some() {
  if (fd_ < 0) {
    return false;
  }
  // Small enough that the jobs it brings do not hold up the next start.
  char buffer[32 * 1024];
  for (;;) {
    const ssize_t got = ::read(fd_, buffer, sizeof buffer);
    if (got > 0) {
      reader_.feed({buffer, static_cast<std::size_t>(got)});
      return true;
    }
    if (got == 0) {
      reader_.finish();
      return false;
    }
    if (errno == EAGAIN) {
      return true;
    }
    if (errno != EINTR) {
      const int error = errno;
      reader_.finish();
      return fail_errno("cannot read the jobs", error);
    }
  }
}

}  // namespace berth
