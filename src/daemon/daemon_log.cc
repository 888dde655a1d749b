#include "daemon/daemon_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace berth {
namespace {

constexpr std::size_t kLongestLog = std::size_t{1} << 20;
constexpr std::size_t kLongestLine = 2000;
constexpr std::size_t kRemembered = 32;  // lines
constexpr std::time_t kNewsAgain = 600;  // seconds

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
  const std::time_t now = std::time(nullptr);
  std::erase_if(recent_, [&](const Recent& one) { return now - one.since > kNewsAgain; });
  const auto known = std::find_if(recent_.begin(), recent_.end(),
                                  [&](const Recent& one) { return one.text == text; });
  if (known == recent_.end()) {
    recent_.push_back({std::string(text), 1, now});
    if (recent_.size() > kRemembered) {
      recent_.pop_front();
    }
    return put(text);
  }
  ++known->times;
  // At 2, 4, 8, 16, …: often enough to be seen, seldom enough to be read.
  if ((known->times & (known->times - 1)) == 0) {
    put(fmt::format("{} (again, {} times in all)", text, known->times));
  }
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
  if (size_ + line.size() > kLongestLog) {
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
