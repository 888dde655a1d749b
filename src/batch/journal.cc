#include "batch/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/check.h"
#include "base/failpoint.h"
#include "base/read_file.h"
#include "base/secret.h"
#include "batch/batch_ids.h"

namespace berth {
namespace {

constexpr std::string_view kMagic = "berth-batch 1";
/// More rows or ids than these are no journal's.
constexpr std::uint64_t kMost = 1'000'000'000'000;

/// Takes the words of a line one by one.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  std::string_view word() {
    const std::size_t end = std::min(rest_.find('\t'), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    good_ = good_ && !word.empty();
    return word;
  }
  std::uint64_t number() {
    const std::string_view text = word();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    good_ = good_ && error == std::errc() && end == text.data() + text.size();
    return value;
  }
  bool done() const { return good_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

/// A lock that belongs to the open file, and that others can see without taking it.
struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

Failure damaged(const std::string& path, std::size_t line) {
  return fail(ErrorCode::Refused,
              fmt::format("line {} of {} makes no sense: it is damaged, or no journal of berth's; "
                          "move it away to run all rows from the beginning",
                          line, path));
}

/// Adds up the whole lines; the length of those.
Result<std::size_t> take_all(const std::string& path, std::string_view text,
                             BatchProgress& progress) {
  std::size_t line = 0;
  std::size_t at = 0;
  for (std::size_t end = 0; (end = text.find('\n', at)) != text.npos; at = end + 1) {
    ++line;
    const std::string_view words = text.substr(at, end - at);
    if (line == 1 ? !words.starts_with(fmt::format("{}\t", kMagic)) : !progress.take(words)) {
      return damaged(path, line);
    }
    if (line == 1) {
      progress.token = words.substr(kMagic.size() + 1);
    }
  }
  return at;
}

}  // namespace

RowRecord BatchProgress::row(std::size_t row) const {
  const auto found = rows.find(row);
  return found == rows.end() ? RowRecord{} : found->second;
}

bool BatchProgress::take(std::string_view line) {
  Words words(line);
  const std::string_view what = words.word();
  if (what == "restart") {
    batches.clear();
    rows.clear();
    profiled.clear();
    return words.done();
  }
  if (what == "profile") {
    const std::string script(words.word());
    profiled[script] = Bytes{static_cast<std::int64_t>(words.number())};
    return words.done();
  }
  if (what == "batch") {
    BatchSpan span;
    span.first = words.number();
    span.count = words.number();
    span.first_id = words.number();
    if (!words.done() || span.count == 0 || span.count > kMost || span.first > kMost ||
        span.first != taken() || span.first_id < next_id || span.first_id > kMost) {
      return false;
    }
    batches.push_back(span);
    next_id = span.first_id + span.count;
    return true;
  }
  const std::size_t row = words.number();
  RowRecord record;
  if (what == "start") {
    record.state = RowState::Running;
  } else {
    record.fingerprint = words.word();
    if (what == "succeeded") {
      record.state = RowState::Succeeded;
    } else if (what == "failed") {
      record.state = RowState::Failed;
      record.reason = words.word();
    } else if (what == "submitted") {
      record.state = RowState::Submitted;
      record.job = words.number();
    } else {
      return false;
    }
  }
  if (!words.done() || row >= taken()) {
    return false;
  }
  if (record.state == RowState::Succeeded || record.state == RowState::Failed) {
    record.job = rows[row].job;  // a job of the daemon has ended
  }
  rows[row] = std::move(record);
  return true;
}

Result<BatchJournal> BatchJournal::open(const std::string& path, std::string ids) {
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!file) {
    return fail_errno(fmt::format("cannot keep the progress in {}", path), errno);
  }
  struct flock lock = whole_file();
  if (::fcntl(file.get(), F_OFD_SETLK, &lock) != 0) {
    return errno == EAGAIN || errno == EACCES
               ? fail(ErrorCode::Refused,
                      fmt::format("another berth batch runs this file (it holds {}); --status "
                                  "shows how far it is",
                                  path))
               : fail_errno(fmt::format("cannot lock {}", path), errno);
  }
  const Result<std::string> text = read_file(path);
  if (!text) {
    return Failure(text.error());
  }
  BatchJournal journal(std::move(file), path);
  journal.ids_ = std::move(ids);
  const Result<std::size_t> whole = take_all(path, *text, journal.progress_);
  if (!whole) {
    return Failure(whole.error());
  }
  if (*whole < text->size() && ::ftruncate(journal.file_.get(), static_cast<off_t>(*whole)) != 0) {
    return fail_errno(fmt::format("cannot repair the end of {}", path), errno);
  }
  if (*whole == 0) {
    const Result<std::string> token = random_hex(8);
    if (!token) {
      return Failure(token.error());
    }
    if (const Result<void> added = journal.write_line(fmt::format("{}\t{}", kMagic, *token));
        !added) {
      return Failure(added.error());
    }
    journal.progress_.token = *token;
    // The file itself must be found again, too.
    const std::size_t slash = path.rfind('/');
    const Fd folder(::open(slash == path.npos ? "." : path.substr(0, slash + 1).c_str(),
                           O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder) {
      (void)!::fsync(folder.get());
    }
  }
  return journal;
}

Result<BatchProgress> BatchJournal::look(const std::string& path, bool& running) {
  running = false;
  BatchProgress progress;
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) {
    return progress;
  }
  const Result<std::string> text = read_file(path);
  if (!text) {
    return Failure(text.error());
  }
  struct flock lock = whole_file();
  running = ::fcntl(file.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  const Result<std::size_t> whole = take_all(path, *text, progress);
  return whole ? Result<BatchProgress>(std::move(progress)) : Failure(whole.error());
}

Result<void> BatchJournal::add(const std::string& line) {
  BERTH_CHECK(progress_.take(line));
  return write_line(line);
}

Result<void> BatchJournal::write_line(const std::string& line) {
  const std::string bytes = line + "\n";
  int error = BERTH_FAILPOINT("batch.journal");
  ssize_t written = 0;
  if (error == 0) {
    written = ::write(file_.get(), bytes.data(), bytes.size());
    error = written < 0 ? errno : 0;
  }
  if (error == 0 && written < static_cast<ssize_t>(bytes.size())) {
    // The next line must not follow a torn one.
    (void)!::ftruncate(file_.get(), ::lseek(file_.get(), 0, SEEK_END) - written);
    error = ENOSPC;
  }
  if (error == 0 && ::fdatasync(file_.get()) != 0) {
    error = errno;
  }
  if (error != 0) {
    return fail_errno(fmt::format("cannot write the progress to {}", path_), error);
  }
  return {};
}

Result<BatchSpan> BatchJournal::begin_batch(std::size_t count) {
  const Result<std::uint64_t> id =
      ids_.empty() ? progress_.next_id : take_batch_ids(ids_, count, progress_.next_id);
  const BatchSpan span{progress_.taken(), count, id.value_or(progress_.next_id)};
  const Result<void> added =
      add(fmt::format("batch\t{}\t{}\t{}", span.first, span.count, span.first_id));
  if (!added || !id) {
    return Failure(added ? id.error() : added.error());
  }
  return span;
}

Result<void> BatchJournal::script_profiled(const std::string& script, Bytes peak) {
  return add(fmt::format("profile\t{}\t{}", script, peak.count));
}

Result<void> BatchJournal::row_started(std::size_t row) {
  return add(fmt::format("start\t{}", row));
}

Result<void> BatchJournal::row_succeeded(std::size_t row, const std::string& fingerprint) {
  return add(fmt::format("succeeded\t{}\t{}", row, fingerprint));
}

Result<void> BatchJournal::row_failed(std::size_t row, const std::string& fingerprint,
                                      const std::string& reason) {
  return add(fmt::format("failed\t{}\t{}\t{}", row, fingerprint, reason));
}

Result<void> BatchJournal::row_submitted(std::size_t row, const std::string& fingerprint,
                                         std::uint64_t job) {
  return add(fmt::format("submitted\t{}\t{}\t{}", row, fingerprint, job));
}

Result<void> BatchJournal::restart() { return add("restart"); }

}  // namespace berth
