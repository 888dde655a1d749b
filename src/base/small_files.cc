#include "base/small_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "base/fd.h"

namespace berth {

std::vector<std::string> names_in(const std::string& directory) {
  const auto close = [](DIR* opened) { ::closedir(opened); };
  const std::unique_ptr<DIR, decltype(close)> opened(::opendir(directory.c_str()), close);
  std::vector<std::string> names;
  while (opened != nullptr) {
    const dirent* entry = ::readdir(opened.get());
    if (entry == nullptr) {
      break;
    }
    if (const std::string name = entry->d_name; name != "." && name != "..") {
      names.push_back(name);
    }
  }
  return names;
}

std::optional<std::string> read_small_file(const std::string& path, std::size_t limit) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    return std::nullopt;
  }
  std::string text;
  std::array<char, 4096> block;
  while (text.size() < limit) {
    const ssize_t got =
        ::read(file.get(), block.data(), std::min(block.size(), limit - text.size()));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return std::nullopt;
    }
    if (got == 0) {
      break;
    }
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace berth
