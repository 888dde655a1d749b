#include "run/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/check.h"

namespace berth {

InputFeed::InputFeed() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { BERTH_CHECK(event_); }

void InputFeed::add(JobLine job) {
  pending_.push_back(std::move(job));
  wake();
}

void InputFeed::close() {
  closed_ = true;
  wake();
}

void InputFeed::wake() const {
  const std::uint64_t one = 1;
  (void)!::write(event_.get(), &one, sizeof one);
}

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

Input Input::from_jobs(std::vector<JobLine> jobs) {
  Input input(Fd(), -1, true, JobReader::Separator::Newline);
  input.jobs_ = std::move(jobs);
  return input;
}

Input Input::from_feed(InputFeed& feed) {
  Input input(Fd(), feed.event_.get(), false, JobReader::Separator::Newline);
  input.feed_ = &feed;
  return input;
}

Result<bool> Input::read_some() {
  if (feed_ != nullptr) {
    std::uint64_t count = 0;
    (void)!::read(fd_, &count, sizeof count);
    BERTH_CHECK(taken_ == jobs_.size());
    jobs_ = std::exchange(feed_->pending_, {});
    taken_ = 0;
    return !feed_->closed_;
  }
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

std::optional<tl::expected<JobLine, LineError>> Input::next() {
  if (taken_ < jobs_.size()) {
    return tl::expected<JobLine, LineError>(std::move(jobs_[taken_++]));
  }
  return reader_.next();
}

}  // namespace berth
