#include "spec/job_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"
#include "spec/sweep_text.h"

namespace berth {
namespace {

std::string_view trim_left(std::string_view text) {
  const std::size_t start = text.find_first_not_of(kBlanks);
  return start == text.npos ? std::string_view{} : text.substr(start);
}

std::string_view trim_right(std::string_view text) {
  const std::size_t end = text.find_last_not_of(kBlanks);
  return end == text.npos ? std::string_view{} : text.substr(0, end + 1);
}

/// The end word of a `<<WORD` block, empty when the text is not one.
std::string_view block_end(std::string_view text) {
  if (!text.starts_with("<<")) {
    return {};
  }
  const std::string_view word = trim_right(trim_left(text.substr(2)));
  return word.find_first_of(" \t") == word.npos ? word : std::string_view{};
}

/// Why a record cannot be (part of) a command, whatever it says.
std::optional<std::string> problem_in(std::string_view record, bool cut) {
  if (cut || record.size() > kLongestCommand) {
    return fmt::format(
        "is longer than {} bytes, the most that a shell can be given: put the command into a "
        "script",
        kLongestCommand);
  }
  if (record.find('\0') != record.npos) {
    return "holds a NUL byte (for NUL-separated jobs give -0)";
  }
  if (const std::size_t bad = find_invalid_utf8(record); bad != record.npos) {
    return fmt::format("is not UTF-8 at byte {}", bad + 1);
  }
  return std::nullopt;
}

/// Options and command. After an error `record` begins with what is wrong.
Result<void> read_words(std::string_view& record, JobLine& job) {
  std::string_view rest = record;
  Result<LineOptions> options = take_options(rest);
  if (!options) {
    record = rest;
    return Failure(options.error());
  }
  rest = trim_right(rest);
  if (rest.empty()) {
    return fail(ErrorCode::Usage, "has options but no command");
  }
  job.options = std::move(*options);
  job.command = rest;
  return {};
}

}  // namespace

std::size_t find_invalid_utf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    // Eight plain letters at a time: nearly all input is that.
    std::uint64_t eight = 0;
    if (i + sizeof eight <= text.size()) {
      std::memcpy(&eight, text.data() + i, sizeof eight);
      if ((eight & 0x8080808080808080ULL) == 0) {
        i += sizeof eight;
        continue;
      }
    }
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const std::size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC2 || lead > 0xF4 || i + more >= text.size()) {
      return i;
    }
    std::uint32_t point = lead & (0x3FU >> more);
    for (std::size_t k = 1; k <= more; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xC0) != 0x80) {
        return i;
      }
      point = (point << 6) | (next & 0x3FU);
    }
    static constexpr std::array<std::uint32_t, 4> kLeast = {0, 0x80, 0x800, 0x10000};
    if (point < kLeast[more] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) {
      return i;
    }
    i += more + 1;
  }
  return std::string_view::npos;
}

void JobReader::feed(std::string_view bytes) {
  // Move what is left to the front only when that is cheap beside what was consumed.
  if (at_ > buffer_.size() / 2) {
    buffer_.erase(0, at_);
    searched_ -= at_;
    at_ = 0;
  }
  buffer_ += bytes;
}

std::optional<std::string_view> JobReader::next_record() {
  const char separator = separator_ == Separator::Nul ? '\0' : '\n';
  const std::size_t end = buffer_.find(separator, std::max(searched_, at_));
  std::string_view record;
  if (end != std::string::npos) {
    record = std::string_view(buffer_).substr(at_, end - at_);
    at_ = searched_ = end + 1;
  } else if (finished_ && at_ < buffer_.size()) {
    record = std::string_view(buffer_).substr(at_);
    at_ = searched_ = buffer_.size();
  } else {
    searched_ = buffer_.size();
    if (!finished_ && buffer_.size() - at_ > kLongestCommand + 1024) {
      // It will be refused whatever follows: drop it as it comes, but keep enough to be refused.
      too_long_ = true;
      buffer_.erase(at_ + kLongestCommand + 1);
      searched_ = buffer_.size();
    }
    return std::nullopt;
  }
  ++line_;
  return record;
}

JobReader::Item JobReader::wrong(std::size_t line, std::string message) {
  return tl::unexpected(LineError{line, std::move(message)});
}

std::optional<tl::expected<JobLine, LineError>> JobReader::next() {
  while (const std::optional<std::string_view> record = next_record()) {
    if (std::optional<std::string> problem = problem_in(*record, std::exchange(too_long_, false))) {
      if (block_ && std::exchange(block_->dropped, true)) {
        continue;
      }
      return wrong(line_, std::move(*problem));
    }
    if (std::optional<Item> item = block_ ? add_to_block(*record) : parse(*record)) {
      return item;
    }
  }
  if (finished_ && block_) {
    const Block open = *std::exchange(block_, std::nullopt);
    if (open.dropped) {
      return std::nullopt;
    }
    return wrong(open.job.line,
                 fmt::format("opens the block <<{0}, which no line {0} closes", open.end));
  }
  return std::nullopt;
}

std::optional<JobReader::Item> JobReader::add_to_block(std::string_view record) {
  if (trim_right(record) == block_->end) {
    Block done = *std::exchange(block_, std::nullopt);
    if (done.dropped) {
      return std::nullopt;
    }
    if (done.size > kLongestCommand) {
      return wrong(
          done.job.line,
          fmt::format("opens a block longer than {} bytes: put it into a script", kLongestCommand));
    }
    return Item(std::move(done.job));
  }
  block_->size += record.size() + 1;
  if (block_->size <= kLongestCommand) {
    block_->job.command += record;
    block_->job.command += '\n';
  }
  return std::nullopt;
}

std::optional<JobReader::Item> JobReader::parse(std::string_view record) {
  const std::string_view start = trim_left(record);
  const bool lines = separator_ == Separator::Newline;
  if (start.empty() || (lines && start[0] == '#')) {
    return std::nullopt;
  }
  JobLine job;
  job.line = line_;
  std::string_view rest = record;
  if (const Result<void> read = read_words(rest, job); !read) {
    const auto at = static_cast<std::size_t>(rest.data() - record.data());
    return tl::unexpected(LineError{line_, read.error().message, column_of(record, at)});
  }
  if (const std::string_view end = block_end(job.command); lines && !end.empty()) {
    block_ = Block{std::string(end), std::move(job), 0, false};
    block_->job.command.clear();
    return std::nullopt;
  }
  return Item(std::move(job));
}

Result<JobLine> read_job(std::string_view text) {
  if (std::optional<std::string> problem = problem_in(text, false)) {
    return fail(ErrorCode::Usage, std::move(*problem));
  }
  JobLine job;
  const Result<void> read = read_words(text, job);
  return read ? Result<JobLine>(std::move(job)) : Failure(read.error());
}

}  // namespace berth
