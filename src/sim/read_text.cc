#include "sim/read_text.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <memory>

namespace berth {

Result<std::string> read_text(const std::string& path) {
  errno = 0;
  // Reads what is not packed just as well.
  const gzFile opened =
      path == "-" ? ::gzdopen(::dup(STDIN_FILENO), "rb") : ::gzopen(path.c_str(), "rb");
  if (opened == nullptr) {
    const int problem = errno;
    Failure failure = fail_errno(path, problem);
    failure.value().code = problem == ENOENT ? ErrorCode::NotFound : ErrorCode::Io;
    return failure;
  }
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(opened, &::gzclose);
  std::string text;
  std::array<char, 65536> block;
  int n = 0;
  while ((n = ::gzread(file.get(), block.data(), block.size())) > 0) {
    text.append(block.data(), static_cast<std::size_t>(n));
  }
  int code = Z_OK;
  const char* message = ::gzerror(file.get(), &code);
  if (n < 0 || code == Z_BUF_ERROR) {
    if (code == Z_ERRNO) {
      return fail_errno(path, errno);
    }
    return fail(ErrorCode::Io, fmt::format("{}: the packed file is damaged: {}", path, message));
  }
  return text;
}

}  // namespace berth
