#include "memory/peak_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/paths.h"
#include "memory/peak_rewrite.h"

namespace berth {
namespace {

/// While somebody else rewrites the file, these many wait.
constexpr std::size_t kMostUnwritten = 10'000;

enum class Written : std::uint8_t { Yes, Later, Never };

Written append(const std::string& path, const std::string& line) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (!file) {
    return Written::Never;
  }
  // The file of a name may have changed between the two calls.
  if (::flock(file.get(), LOCK_SH | LOCK_NB) != 0 || !is_at(file.get(), path)) {
    return Written::Later;
  }
  // One write each: lines of several processes do not mix.
  return ::write(file.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size())
             ? Written::Yes
             : Written::Never;
}

}  // namespace

PeakFile::PeakFile(std::string path, Reader reader)
    : path_(std::move(path)), reader_(std::move(reader)), too_long_(kLongestPeaks) {
  (void)make_folder(path_.substr(0, path_.rfind('/'))).has_value();
  shorten_peaks(path_);
  read();
}

void PeakFile::read() {
  write_lines();
  if (!file_ || !is_at(file_.get(), path_)) {
    reopen();
  }
  read_lines();
}

void PeakFile::reopen() {
  if (file_) {
    reader_.forget();
  }
  file_ = Fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  read_ = 0;
}

void PeakFile::read_lines() {
  struct stat status {};
  if (!file_ || ::fstat(file_.get(), &status) != 0 || status.st_size == read_) {
    return;
  }
  if (status.st_size < read_) {
    reader_.forget();  // somebody has cut it off
    read_ = 0;
  }
  const std::string bytes = read_from(file_.get(), read_);
  for (std::size_t at = 0, end = 0; (end = bytes.find('\n', at)) != bytes.npos; at = end + 1) {
    read_ += static_cast<off_t>(end + 1 - at);
    if (const auto run = parse_past_run(std::string_view(bytes).substr(at, end - at))) {
      reader_.learn(*run);
    }
  }
}

void PeakFile::write_lines() {
  while (!unwritten_.empty()) {
    switch (append(path_, line_of(unwritten_.front()))) {
      case Written::Never:
        reader_.learn(unwritten_.front());
        break;
      case Written::Later:
        return;
      case Written::Yes:
        break;
    }
    unwritten_.pop_front();
  }
}

void PeakFile::add(const PastRun& run) {
  if (unwritten_.size() < kMostUnwritten) {
    unwritten_.push_back(run);
  }
  read();
  if (read_ > too_long_) {
    shorten_peaks(path_);
    read();
    too_long_ = std::max(kLongestPeaks, read_ + kLongestPeaks / 4);  // where that was in vain
  }
}

}  // namespace berth
