#include "daemon/daemon_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace berth {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr std::size_t kLongestLine = 2000;

std::string local_time() {
  const std::time_t now = std::time(nullptr);
  tm parts{};
  ::localtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts)};
}

}  // namespace

void DaemonLog::open(std::string path) {
  path_ = std::move(path);
  file_ = Fd(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  struct stat info {};
  size_ = file_ && ::fstat(file_.get(), &info) == 0 ? static_cast<std::size_t>(info.st_size) : 0;
}

void DaemonLog::write(std::string_view text) {
  if (text == last_) {
    ++repeated_;
    // At 1, 3, 7, 15, …: often enough to be seen, seldom enough to be read.
    if ((repeated_ & (repeated_ + 1)) == 0) {
      put(fmt::format("{} (again, {} times in all)", text, repeated_ + 1));
    }
    return;
  }
  last_ = text;
  repeated_ = 0;
  put(text);
}

void DaemonLog::put(std::string_view text) {
  std::string clean(text.substr(0, kLongestLine));
  std::replace_if(
      clean.begin(), clean.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  std::fprintf(stderr, "berth daemon: %s\n", clean.c_str());
  if (!file_) {
    return;
  }
  const std::string line = fmt::format("{} {}\n", local_time(), clean);
  if (size_ + line.size() > kMostBytes) {
    begin_anew();
  }
  if (::write(file_.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size())) {
    size_ += line.size();
  }
}

void DaemonLog::begin_anew() {
  (void)std::rename(path_.c_str(), (path_ + ".1").c_str());
  open(path_);
}

}  // namespace berth
