#include "run/outputs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "core/out_of_memory.h"

namespace berth {
namespace {

/// A job's name as part of a file name.
std::string file_part(std::string_view name) {
  std::string part(name);
  for (char& c : part) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-';
    c = plain ? c : '_';
  }
  constexpr std::size_t kLongest = 100;
  part.resize(std::min(part.size(), kLongest));
  return part;
}

void copy_window_size(int from, int to) {
  winsize size{};
  winsize now{};
  if (::ioctl(from, TIOCGWINSZ, &size) == 0 && ::ioctl(to, TIOCGWINSZ, &now) == 0 &&
      (size.ws_row != now.ws_row || size.ws_col != now.ws_col)) {
    ::ioctl(to, TIOCSWINSZ, &size);
  }
}

/// A terminal of the size of `screen` that changes nothing of what is written to it: the screen
/// itself will do that.
struct PseudoTerminal {
  Fd reader;
  Fd writer;
};
std::optional<PseudoTerminal> open_pseudo_terminal(int screen) {
  PseudoTerminal made;
  made.reader = Fd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  char name[64];
  if (!made.reader || ::grantpt(made.reader.get()) != 0 || ::unlockpt(made.reader.get()) != 0 ||
      ::ptsname_r(made.reader.get(), name, sizeof name) != 0) {
    return std::nullopt;
  }
  made.writer = Fd(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  termios settings{};
  if (!made.writer || ::tcgetattr(made.writer.get(), &settings) != 0) {
    return std::nullopt;
  }
  settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  settings.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  if (::tcsetattr(made.writer.get(), TCSANOW, &settings) != 0) {
    return std::nullopt;
  }
  copy_window_size(screen, made.reader.get());
  return made;
}

}  // namespace

JobOutputs::JobOutputs(Options options, Poller& poller, RunObserver& observer)
    : options_(std::move(options)), poller_(poller), observer_(observer) {}

Result<void> JobOutputs::prepare() {
  const std::string& folder = options_.log_folder;
  if (folder.empty()) {
    return {};
  }
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
    return fail_errno(fmt::format("cannot make the log folder {}", folder), errno);
  }
  struct stat info {};
  if (::stat(folder.c_str(), &info) == 0 && !S_ISDIR(info.st_mode)) {
    return fail_errno(fmt::format("cannot write to the log folder {}", folder), ENOTDIR);
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    return fail_errno(fmt::format("cannot write to the log folder {}", folder), errno);
  }
  return {};
}

/// A file that was not there before: 12.log, 12.2.log, … so that no attempt overwrites another.
Fd JobOutputs::open_log(JobId job, std::string_view name, std::string& path) {
  const std::string stem = fmt::format("{}/{}{}{}", options_.log_folder, job.value,
                                       name.empty() ? "" : "-", file_part(name));
  for (int n = 1;; ++n) {
    path = n == 1 ? stem + ".log" : fmt::format("{}.{}.log", stem, n);
    Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666));
    if (file || errno != EEXIST) {
      return file;
    }
  }
}

JobOutputs::Writers JobOutputs::open(JobId id, std::string_view name) {
  const bool to_file = !options_.log_folder.empty();
  Writers writers;
  if (!to_file && !options_.capture_stdout && !options_.capture_stderr && !options_.has_screen) {
    return writers;
  }
  Job& job = jobs_[id.value];
  if (to_file) {
    job.log = open_log(id, name, job.log_path);
    if (!job.log) {
      job.log_broken = true;
      observer_.warning(fmt::format("job {} runs without a log: {}: {}", id.value, job.log_path,
                                    strerrordesc_np(errno)));
    }
    writers.stdout_fd = writers.stderr_fd = add_stream(job, id, false);
    return writers;
  }
  if (options_.capture_stdout) {
    writers.stdout_fd = add_stream(job, id, false);
  }
  if (options_.capture_stderr) {
    writers.stderr_fd = add_stream(job, id, true);
  }
  if (options_.has_screen && ::isatty(STDERR_FILENO) != 0) {
    writers.stderr_fd = add_screen(job, id, STDERR_FILENO);
    // One for both keeps their order.
    writers.stdout_fd = ::isatty(STDOUT_FILENO) != 0 ? writers.stderr_fd : STDOUT_FILENO;
  }
  return writers;
}

int JobOutputs::add_screen(Job& job, JobId id, int screen) {
  std::optional<PseudoTerminal> made = open_pseudo_terminal(screen);
  if (!made) {
    return screen;
  }
  auto stream = std::make_unique<Stream>();
  stream->job = id;
  stream->is_stderr = true;
  stream->reader = std::move(made->reader);
  stream->screen = screen;
  writers_.push_back(std::move(made->writer));
  const int writer = writers_.back().get();
  follow(std::move(stream), job);
  return writer;
}

int JobOutputs::add_stream(Job& job, JobId id, bool is_stderr) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    observer_.warning(fmt::format("the output of job {} goes to berth's own: {}", id.value,
                                  strerrordesc_np(errno)));
    return is_stderr ? 2 : 1;
  }
  // Only our end: the job's own must block as any program expects.
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  auto stream = std::make_unique<Stream>();
  stream->job = id;
  stream->is_stderr = is_stderr;
  stream->reader = Fd(ends[0]);
  writers_.emplace_back(ends[1]);
  follow(std::move(stream), job);
  return ends[1];
}

void JobOutputs::follow(std::unique_ptr<Stream> stream, Job& job) {
  Stream* borrowed = stream.get();
  poller_.add(borrowed->reader.get(), [this, borrowed] {
    if (!pull(*borrowed)) {
      poller_.remove(borrowed->reader.get());
    }
  });
  job.streams.push_back(std::move(stream));
}

void JobOutputs::release_writers() { writers_.clear(); }

/// Takes what is there; false at the end of the stream.
bool JobOutputs::pull(Stream& stream) {
  char buffer[65536];
  if (stream.screen >= 0) {
    copy_window_size(stream.screen, stream.reader.get());
  }
  // Bounded, so that a job which prints without end cannot keep others from starting.
  for (int rounds = 0; rounds < 16; ++rounds) {
    const ssize_t got = ::read(stream.reader.get(), buffer, sizeof buffer);
    if (got > 0) {
      take(stream, {buffer, static_cast<std::size_t>(got)});
    } else if (got == 0 || errno == EIO) {  // EIO: nobody has the pseudo-terminal open any more
      return false;
    } else if (errno != EINTR) {
      return true;
    }
  }
  return true;
}

void JobOutputs::take(Stream& stream, std::string_view bytes) {
  Job& job = jobs_.at(stream.job.value);
  job.bytes += bytes.size();
  job.tail += bytes.substr(bytes.size() - std::min(bytes.size(), kComplaintTail));
  if (job.tail.size() > 2 * kComplaintTail) {
    job.tail.erase(0, job.tail.size() - kComplaintTail);
  }
  if (!job.log_path.empty()) {
    write_log(job, bytes);
    return;
  }
  if (stream.screen >= 0) {
    observer_.job_output(stream.job, stream.is_stderr, bytes);
    return;
  }
  // Lines leave whole, so that those of several jobs do not mix; an endless one in pieces.
  constexpr std::size_t kLongestLine = 1 << 20;
  const std::size_t last = bytes.rfind('\n');
  if (last == bytes.npos) {
    stream.partial += bytes;
    if (stream.partial.size() < kLongestLine) {
      return;
    }
    stream.partial += '\n';
    observer_.job_output(stream.job, stream.is_stderr, stream.partial);
    stream.partial.clear();
    return;
  }
  stream.partial += bytes.substr(0, last + 1);
  observer_.job_output(stream.job, stream.is_stderr, stream.partial);
  stream.partial = bytes.substr(last + 1);
}

void JobOutputs::write_log(Job& job, std::string_view bytes) {
  while (!bytes.empty() && job.log) {
    const ssize_t written = ::write(job.log.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      if (!job.log_broken) {
        job.log_broken = true;
        observer_.warning(
            fmt::format("output is being lost: {}: {}", job.log_path, strerrordesc_np(errno)));
      }
      break;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  lost_ += bytes.size();
}

std::string_view JobOutputs::tail(JobId id) {
  const auto found = jobs_.find(id.value);
  if (found == jobs_.end()) {
    return {};
  }
  for (const std::unique_ptr<Stream>& stream : found->second.streams) {
    (void)pull(*stream);
  }
  return found->second.tail;
}

std::uint64_t JobOutputs::finish(JobId id) {
  const auto found = jobs_.find(id.value);
  if (found == jobs_.end()) {
    return 0;
  }
  for (const std::unique_ptr<Stream>& stream : found->second.streams) {
    poller_.remove(stream->reader.get());
    // All that the job wrote is in the pipe by now, and a pipe holds less than one pull takes.
    (void)pull(*stream);
    if (!stream->partial.empty()) {
      stream->partial += '\n';
      observer_.job_output(id, stream->is_stderr, stream->partial);
    }
  }
  const std::uint64_t bytes = found->second.bytes;
  jobs_.erase(found);
  return bytes;
}

}  // namespace berth
