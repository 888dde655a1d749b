#include "base/read_file.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>

namespace berth {

Result<std::string> read_file(const std::string& path, std::size_t most) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (file == nullptr) {
    const int problem = errno;
    Failure failure = fail_errno(path, problem);
    failure.value().code = problem == ENOENT ? ErrorCode::NotFound : ErrorCode::Io;
    return failure;
  }
  std::string text;
  std::array<char, 65536> block;
  while (const std::size_t n = std::fread(block.data(), 1, block.size(), file.get())) {
    if (n > most - text.size()) {
      return fail(ErrorCode::Usage,
                  fmt::format("{} is too long: {} bytes are the most", path, most));
    }
    text.append(block.data(), n);
  }
  if (std::ferror(file.get()) != 0) {
    return fail_errno(path, errno);
  }
  return text;
}

}  // namespace berth
