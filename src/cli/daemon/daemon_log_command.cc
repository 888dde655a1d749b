#include "cli/daemon/daemon_log_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <deque>
#include <optional>
#include <string>

#include "api/json_writer.h"
#include "base/fd.h"
#include "base/paths.h"
#include "base/read_file.h"
#include "cli/commands.h"

namespace berth {
namespace {

constexpr std::string_view kDaemonLogName = "berth daemon";
constexpr std::size_t kTimeLength = 19;  // 2026-01-31 23:59:59

void print_line(const std::string& line, bool json) {
  if (!json) {
    fmt::print("{}\n", line);
    return;
  }
  std::tm local{};
  local.tm_isdst = -1;
  const char* rest = ::strptime(line.c_str(), "%Y-%m-%d %H:%M:%S ", &local);
  const std::string_view text = line;
  JsonWriter out;
  out.object([&] {
    out.field("version", 1);
    out.field("time", rest == nullptr ? std::nullopt : std::optional(std::mktime(&local)));
    out.field("text", rest == nullptr ? text : text.substr(std::min(kTimeLength + 1, text.size())));
  });
  fmt::print("{}\n", out.take());
}

/// Prints what comes behind `offset`, also in the file that takes the place of a full one.
class Follower {
 public:
  Follower(std::string path, bool json) : path_(std::move(path)), json_(json) {}

  Result<void> begin(const std::string& folder) {
    events_ = Fd(::inotify_init1(IN_CLOEXEC));
    if (!events_ || ::inotify_add_watch(events_.get(), folder.c_str(),
                                        IN_MODIFY | IN_CREATE | IN_MOVED_FROM) < 0) {
      return fail_errno(fmt::format("cannot watch {}", folder), errno);
    }
    return {};
  }

  /// `seen`: how much of the file has been printed.
  void start_at(std::size_t seen) {
    file_ = Fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    offset_ = static_cast<off_t>(seen);
  }

  void run() {
    for (;;) {
      print_new();
      if (is_replaced()) {
        start_at(0);
        print_new();
      }
      (void)std::fflush(stdout);
      alignas(inotify_event) std::array<char, 4096> buffer;
      if (::read(events_.get(), buffer.data(), buffer.size()) < 0 && errno != EINTR) {
        return;
      }
    }
  }

 private:
  bool is_replaced() const {
    struct stat here {};
    struct stat there {};
    return ::stat(path_.c_str(), &there) == 0 &&
           (!file_ || ::fstat(file_.get(), &here) != 0 || here.st_ino != there.st_ino);
  }

  void print_new() {
    std::array<char, 65536> buffer;
    ssize_t got = 0;
    while (file_ && (got = ::pread(file_.get(), buffer.data(), buffer.size(), offset_)) > 0) {
      offset_ += got;
      text_.append(buffer.data(), static_cast<std::size_t>(got));
    }
    for (std::size_t end = 0; (end = text_.find('\n')) != text_.npos; text_.erase(0, end + 1)) {
      print_line(text_.substr(0, end), json_);
    }
  }

  std::string path_;
  bool json_;
  Fd events_;
  Fd file_;
  off_t offset_ = 0;
  std::string text_;  // a line that is not all there
};

}  // namespace

int show_daemon_log(const DaemonLogView& view) {
  const Result<Paths> paths = find_paths();
  if (!paths) {
    return report(kDaemonLogName, paths.error());
  }
  const std::string path = paths->state + "/daemon.log";
  Follower follower(path, view.json);
  if (view.follow) {  // before the file is read, so that nothing falls in between
    if (const Result<void> watched = follower.begin(paths->state); !watched) {
      return report(kDaemonLogName, watched.error());
    }
  }
  const Result<std::string> newest = read_file(path);
  if (!newest && !view.follow) {
    return report(kDaemonLogName, newest.error());
  }
  std::deque<std::string> lines;
  const auto take = [&](std::string_view text) {
    for (std::size_t end = 0; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
      lines.emplace_back(text.substr(0, end));
      if (lines.size() > static_cast<std::size_t>(std::max<std::int64_t>(0, view.lines))) {
        lines.pop_front();
      }
    }
    return text.size();  // of what is no whole line yet
  };
  (void)take(read_file(path + ".1").value_or(""));
  const std::size_t rest = take(newest.value_or(""));
  for (const std::string& line : lines) {
    print_line(line, view.json);
  }
  if (view.follow) {
    follower.start_at(newest ? newest->size() - rest : 0);
    follower.run();
  }
  return 0;
}

}  // namespace berth
