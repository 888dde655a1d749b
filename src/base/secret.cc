#include "base/secret.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "base/check.h"
#include "base/fd.h"

namespace berth {

Result<std::string> random_hex(std::size_t bytes) {
  std::array<unsigned char, 256> random{};
  BERTH_CHECK(bytes <= random.size());
  if (::getentropy(random.data(), bytes) != 0) {
    return fail_errno("the system gives no random numbers", errno);
  }
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) {
    text += fmt::format("{:02x}", random[i]);
  }
  return text;
}

std::string random_name() { return random_hex(8).value_or(fmt::format("{:016x}", ::getpid())); }

Result<void> replace_private_file(const std::string& path, std::string_view text) {
  const std::string fresh = path + ".new";
  ::unlink(fresh.c_str());  // what a process that died has left: its mode may be another
  const Fd file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::fsync(file.get()) != 0 || ::rename(fresh.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(fresh.c_str());
    return fail_errno(fmt::format("cannot write {}", path), error);
  }
  const Fd folder(::open(path.substr(0, path.rfind('/')).c_str(), O_RDONLY | O_DIRECTORY));
  (void)::fsync(folder.get());
  return {};
}

}  // namespace berth
