#include "run/joblog.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>

namespace berth {
namespace {

constexpr std::string_view kHeader =
    "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n";
constexpr std::size_t kColumns = 9;

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

Result<std::string> read_whole(int fd, const std::string& path) {
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t got = ::pread(fd, buffer, sizeof buffer, static_cast<off_t>(text.size()));
    if (got < 0) {
      return fail_errno(fmt::format("cannot read the joblog {}", path), errno);
    }
    if (got == 0) {
      return text;
    }
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

/// Nothing but the header: left by a run that had nothing to start.
bool holds_no_job(int fd, off_t size) {
  std::array<char, kHeader.size()> start;
  return size == static_cast<off_t>(start.size()) &&
         ::pread(fd, start.data(), start.size(), 0) == size &&
         std::string_view(start.data(), start.size()) == kHeader;
}

template <class T>
bool to_number(std::string_view field, T& out) {
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), out);
  return error == std::errc() && end == field.data() + field.size();
}

bool parse_entry(std::string_view line, JoblogEntry& entry) {
  std::array<std::string_view, kColumns> fields;
  for (std::size_t i = 0; i + 1 < kColumns; ++i) {
    const std::size_t tab = line.find('\t');
    if (tab == line.npos) {
      return false;
    }
    fields[i] = line.substr(0, tab);
    line.remove_prefix(tab + 1);
  }
  entry.command = line;
  return to_number(fields[0], entry.seq.value) && to_number(fields[6], entry.exit_code) &&
         to_number(fields[7], entry.signal);
}

}  // namespace

std::string joblog_command(std::string_view command) {
  std::string field;
  field.reserve(command.size());
  for (const char c : command) {
    switch (c) {
      case '\n':
        field += "\\n";
        break;
      case '\t':
        field += "\\t";
        break;
      default:
        field += c;
    }
  }
  return field;
}

Result<Joblog> Joblog::open(const std::string& path, bool keep) {
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!file) {
    return fail_errno(fmt::format("cannot open the joblog {}", path), errno);
  }
  struct stat info {};
  const bool has_size = ::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode);
  if (has_size && info.st_size > 0 && !keep && !holds_no_job(file.get(), info.st_size)) {
    return fail(ErrorCode::Refused,
                fmt::format("the joblog {} holds an earlier run: go on with --resume or "
                            "--resume-failed, or name another file",
                            path));
  }
  Joblog log(std::move(file), path);
  if (has_size && info.st_size > 0) {
    if (const Result<void> loaded = log.load(); !loaded) {
      return Failure(loaded.error());
    }
  } else if (!write_all(log.file_.get(), kHeader)) {
    return fail_errno(fmt::format("cannot write the joblog {}", path), errno);
  }
  return log;
}

Result<void> Joblog::load() {
  const Result<std::string> text = read_whole(file_.get(), path_);
  if (!text) {
    return Failure(text.error());
  }
  std::string_view rest = *text;
  std::size_t line_number = 0;
  std::size_t good = 0;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    if (end == rest.npos) {
      break;  // torn by a crash: the job it tells of does not count as ended
    }
    ++line_number;
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    good += end + 1;
    JoblogEntry entry;
    if (line.starts_with("Seq\t")) {
      continue;
    }
    if (!parse_entry(line, entry)) {
      return fail(ErrorCode::Usage,
                  fmt::format("line {} of the joblog {} is not in GNU parallel's columns",
                              line_number, path_));
    }
    past_[entry.seq] = std::move(entry);
  }
  if (!rest.empty() && ::ftruncate(file_.get(), static_cast<off_t>(good)) != 0) {
    return fail_errno(fmt::format("cannot mend the last line of the joblog {}", path_), errno);
  }
  return {};
}

Result<void> Joblog::add(const JoblogEntry& entry) {
  const std::string line =
      fmt::format("{}\t:\t{:13.3f}\t{:10.3f}\t0\t{}\t{}\t{}\t{}\n", entry.seq.value, entry.started,
                  entry.runtime, entry.output_bytes, entry.exit_code, entry.signal, entry.command);
  if (!write_all(file_.get(), line)) {
    return fail_errno(fmt::format("cannot write the joblog {}", path_), errno);
  }
  return {};
}

}  // namespace berth
