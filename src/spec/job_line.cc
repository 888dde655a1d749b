#include "spec/job_line.h"

#include <fmt/format.h>
#include <unistd.h>

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

/// A whole number within [least, most].
template <class T>
Result<void> set_number(std::optional<T>& out, std::string_view key, std::string_view value,
                        std::int64_t least, std::int64_t most) {
  const Result<std::int64_t> number = parse_integer(value, key);
  if (!number) {
    return Failure(number.error());
  }
  if (*number < least || *number > most) {
    return fail(ErrorCode::Usage,
                fmt::format("{} must be from {} to {}, not {}", key, least, most, *number));
  }
  out = static_cast<T>(*number);
  return {};
}

template <class T>
Result<void> set_parsed(std::optional<T>& out, Result<T> parsed) {
  if (!parsed) {
    return Failure(parsed.error());
  }
  out = *parsed;
  return {};
}

Result<void> set_after(std::vector<AfterName>& after, std::string_view value) {
  for (bool more = true; more;) {
    const std::size_t comma = std::min(value.find(','), value.size());
    std::string_view item = value.substr(0, comma);
    more = comma < value.size();
    value.remove_prefix(std::min(comma + 1, value.size()));
    AfterName follow;
    for (const auto& [word, when] :
         {std::pair{"ok:", Dependency::When::Ok}, std::pair{"any:", Dependency::When::Any},
          std::pair{"notok:", Dependency::When::NotOk}}) {
      if (item.starts_with(word)) {
        follow.when = when;
        item.remove_prefix(std::strlen(word));
        break;
      }
    }
    if (item.empty()) {
      return fail(ErrorCode::Usage, "after needs a job: @after=ok:NAME,any:3");
    }
    follow.job = item;
    after.push_back(std::move(follow));
  }
  return {};
}

/// `on`, `off`, or `on` with a percentage of the threads.
Result<void> read_mps(LineOptions& options, std::string_view value) {
  options.mps = value != "off";
  if (value == "on" || value == "off") {
    return {};
  }
  if (!set_number(options.thread_percentage, "mps", value, 1, 100)) {
    return fail(ErrorCode::Usage,
                fmt::format("mps is on, off, or a percentage from 1 to 100, not '{}'", value));
  }
  return {};
}

constexpr std::int64_t kMostGpus = 1'000'000;
constexpr std::int64_t kMostRetries = 10'000;

Result<void> set_option(LineOptions& options, std::string_view key, std::string_view value) {
  if (value.empty()) {
    return fail(ErrorCode::Usage, fmt::format("@{}= needs a value", key));
  }
  if (key == "name") {
    options.name = value;
    return {};
  }
  if (key == "project") {
    options.project = value;
    return {};
  }
  if (key == "gpus") {
    return set_number(options.gpus, "gpus", value, 0, kMostGpus);
  }
  if (key == "mem") {
    return set_parsed(options.claim, parse_claim(value));
  }
  if (key == "share") {
    std::optional<std::uint32_t> percent;
    const Result<void> done = set_number(percent, "share", value, 1, 100);
    if (done) {
      options.share = *percent * 10;
    }
    return done;
  }
  if (key == "mps") {
    return read_mps(options, value);
  }
  if (key == "priority") {
    return set_number(options.priority, "priority", value, -kMostPriority, kMostPriority);
  }
  if (key == "weight") {
    return set_number(options.weight, "weight", value, 1, kMostWeight);
  }
  if (key == "timeout") {
    return set_parsed(options.timeout, parse_duration(value));
  }
  if (key == "retries") {
    return set_number(options.retries, "retries", value, 0, kMostRetries);
  }
  if (key == "after") {
    return set_after(options.after, value);
  }
  return fail(ErrorCode::Usage,
              fmt::format("unknown option @{}: the options are name, project, gpus, mem, share, "
                          "mps, priority, weight, timeout, retries and after",
                          key));
}

/// The length of "key" when `word` begins with "@key=", else 0: `@reboot` is the start of a
/// command.
std::size_t key_length(std::string_view word) {
  if (word.empty() || word[0] != '@') {
    return 0;
  }
  std::size_t n = 1;
  while (n < word.size() && ((word[n] >= 'a' && word[n] <= 'z') || word[n] == '_')) {
    ++n;
  }
  return n > 1 && n < word.size() && word[n] == '=' ? n - 1 : 0;
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

Result<LineOptions> take_options(std::string_view& line) {
  LineOptions options;
  line = trim_left(line);
  while (const std::size_t key = key_length(line)) {
    const std::size_t end = std::min(line.find_first_of(" \t\n"), line.size());
    const Result<void> done =
        set_option(options, line.substr(1, key), line.substr(key + 2, end - key - 2));
    if (!done) {
      return Failure(done.error());
    }
    line = trim_left(line.substr(end));
  }
  return options;
}

void set_mps(Needs& needs, const LineOptions& options) {
  if (options.mps) {
    needs.mps = *options.mps ? mps_of(::geteuid()) : 0;
    needs.thread_percentage = options.thread_percentage.value_or(needs.thread_percentage);
  }
  if (needs.gpus == 0 || needs.mps == 0) {
    needs.mps = 0;
    needs.thread_percentage = 0;
  }
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
  std::string_view command = record;
  Result<LineOptions> options = take_options(command);
  if (!options) {
    // What is left begins with the word that is wrong.
    const auto at = static_cast<std::size_t>(command.data() - record.data());
    return tl::unexpected(LineError{line_, options.error().message, column_of(record, at)});
  }
  job.options = std::move(*options);
  command = trim_right(command);
  if (command.empty()) {
    return wrong(line_, "has options but no command");
  }
  if (const std::string_view end = block_end(command); lines && !end.empty()) {
    block_ = Block{std::string(end), std::move(job), 0, false};
    return std::nullopt;
  }
  job.command = command;
  return Item(std::move(job));
}

}  // namespace berth
