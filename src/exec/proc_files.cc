#include "exec/proc_files.h"

#include <dirent.h>
#include <fcntl.h>

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

std::string read_small(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char text[4096];
  const ssize_t size = file ? ::read(file.get(), text, sizeof text) : -1;
  return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : std::string();
}

}  // namespace berth
