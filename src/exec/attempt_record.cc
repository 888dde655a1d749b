#include "exec/attempt_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <iterator>
#include <vector>

namespace berth {
namespace {

// "berth-attempt2 NAME PID FIRST LAST SHIM FIRST LAST BOOT CGROUP CHECKSUM\n"; numbers are
// zero-padded, so that they can be filled in later.
constexpr std::string_view kAttemptMagic = "berth-attempt2";
constexpr std::string_view kEndMagic = "berth-exit2";
constexpr std::size_t kLongestName = 20 + 1 + 5;
constexpr std::size_t kPidWidth = 10;
constexpr std::size_t kTickWidth = 20;
constexpr std::size_t kIdentityWidth = kPidWidth + 1 + kTickWidth + 1 + kTickWidth;
constexpr std::size_t kChecksumWidth = 16;
constexpr std::size_t kTailSize = kChecksumWidth + 1;  // with the newline

/// FNV-1a: finds torn lines, which is all that is asked of it.
BERTH_UNSANITIZED std::uint64_t checksum(const char* text, std::size_t size) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (std::size_t i = 0; i < size; ++i) {
    hash = (hash ^ static_cast<unsigned char>(text[i])) * 0x100000001b3ULL;
  }
  return hash;
}

BERTH_UNSANITIZED void put_decimal(char* at, std::size_t width, std::uint64_t value) {
  for (std::size_t i = width; i > 0; --i) {
    at[i - 1] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}

BERTH_UNSANITIZED void put_identity(char* at, const ProcessIdentity& identity) {
  put_decimal(at, kPidWidth, static_cast<std::uint64_t>(identity.pid));
  put_decimal(at + kPidWidth + 1, kTickWidth, identity.first_tick);
  put_decimal(at + kPidWidth + 1 + kTickWidth + 1, kTickWidth, identity.last_tick);
}

BERTH_UNSANITIZED void put_checksum(char* text, std::size_t size) {
  std::uint64_t hash = checksum(text, size - kTailSize);
  for (std::size_t i = size - 1; i > size - kTailSize; --i) {
    const auto digit = static_cast<char>(hash % 16);
    text[i - 1] = static_cast<char>(digit < 10 ? '0' + digit : 'a' + digit - 10);
    hash /= 16;
  }
}

template <std::integral Number>
std::optional<Number> number(std::string_view text, int base = 10) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return !text.empty() && error == std::errc() && end == text.data() + text.size()
             ? std::optional(value)
             : std::nullopt;
}

template <std::integral Number>
bool read(std::string_view text, Number& value) {
  const std::optional<Number> parsed = number<Number>(text);
  value = parsed.value_or(0);
  return parsed.has_value();
}

/// The words of a whole line without its checksum; none when it is torn. The last of `count` words
/// may hold blanks.
std::vector<std::string_view> words_of(std::string_view line, std::string_view magic,
                                       std::size_t count) {
  if (line.size() < kTailSize + 1 || line.back() != '\n' || !line.starts_with(magic)) {
    return {};
  }
  const std::string_view tail = line.substr(line.size() - kTailSize, kChecksumWidth);
  if (number<std::uint64_t>(tail, 16) != checksum(line.data(), line.size() - kTailSize)) {
    return {};
  }
  std::string_view rest = line.substr(0, line.size() - kTailSize - 1);
  std::vector<std::string_view> words;
  while (words.size() + 1 < count && rest.find(' ') != rest.npos) {
    words.push_back(rest.substr(0, rest.find(' ')));
    rest.remove_prefix(rest.find(' ') + 1);
  }
  words.push_back(rest);
  return words.size() == count ? words : std::vector<std::string_view>();
}

}  // namespace

std::string record_name(const AttemptName& name, std::string_view ending) {
  return fmt::format("{}.{}{}", name.job.value, name.attempt, ending);
}

std::optional<AttemptName> parse_record_name(std::string_view file, std::string_view ending) {
  if (!file.ends_with(ending)) {
    return std::nullopt;
  }
  file.remove_suffix(ending.size());
  const std::size_t dot = file.find('.');
  if (dot == file.npos) {
    return std::nullopt;
  }
  AttemptName name;
  if (!read(file.substr(0, dot), name.job.value) || !read(file.substr(dot + 1), name.attempt)) {
    return std::nullopt;
  }
  return name;
}

UnbornRecord::UnbornRecord(const AttemptName& name, const std::string& boot_id,
                           const std::string& cgroup)
    : text_(fmt::format("{} {} {:010} {:020} {:020} {:010} {:020} {:020} {} {} {:016}\n",
                        kAttemptMagic, record_name(name), 0, 0, 0, 0, 0, 0, boot_id, cgroup, 0)),
      start_(text_.data()),
      size_(text_.size()),
      job_(start_ + kAttemptMagic.size() + 1 + record_name(name).size() + 1),
      shim_(job_ + kIdentityWidth + 1) {}

void UnbornRecord::set_shim(const ProcessIdentity& shim) { put_identity(shim_, shim); }

void UnbornRecord::born_after(std::uint64_t first_tick) {
  put_decimal(job_ + kPidWidth + 1, kTickWidth, first_tick);
}

void UnbornRecord::seal(pid_t job, std::uint64_t last_tick) {
  put_decimal(job_, kPidWidth, static_cast<std::uint64_t>(job));
  put_decimal(job_ + kPidWidth + 1 + kTickWidth + 1, kTickWidth, last_tick);
  put_checksum(start_, size_);
}

std::optional<AttemptRecord> parse_attempt_record(std::string_view text, const AttemptName& name) {
  text = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
  const std::vector<std::string_view> words = words_of(text, kAttemptMagic, 10);
  AttemptRecord record;
  if (words.empty() || words[1] != record_name(name) || !read(words[2], record.job.pid) ||
      !read(words[3], record.job.first_tick) || !read(words[4], record.job.last_tick) ||
      !read(words[5], record.shim.pid) || !read(words[6], record.shim.first_tick) ||
      !read(words[7], record.shim.last_tick)) {
    return std::nullopt;
  }
  record.boot_id = words[8];
  record.cgroup = words[9];
  return record;
}

EndLine::EndLine(std::string_view name, const EndRecord& record) {
  for (const char letter : kEndMagic) {
    text_[size_++] = letter;
  }
  text_[size_++] = ' ';
  for (const char letter : name.substr(0, kLongestName)) {
    text_[size_++] = letter;
  }
  const std::int64_t fields[] = {record.code, record.signal, record.start_error,
                                 static_cast<int>(record.start_step), record.ended_at};
  static_assert(kEndMagic.size() + 1 + kLongestName + std::size(fields) * (1 + kTickWidth) + 1 +
                    kTailSize <=
                kCapacity);
  for (const std::int64_t field : fields) {
    text_[size_++] = ' ';
    put_decimal(text_ + size_, kTickWidth, static_cast<std::uint64_t>(field));
    size_ += kTickWidth;
  }
  text_[size_] = ' ';
  size_ += 1 + kTailSize;
  text_[size_ - 1] = '\n';
  put_checksum(text_, size_);
}

std::optional<EndRecord> parse_end_record(std::string_view text, const AttemptName& name) {
  text.remove_prefix(
      std::min(text.rfind(fmt::format("{} {} ", kEndMagic, record_name(name))), text.size()));
  // An older and longer end of another attempt may show behind it.
  text = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
  const std::vector<std::string_view> words = words_of(text, kEndMagic, 7);
  EndRecord record;
  int step = 0;
  if (words.empty() || !read(words[2], record.code) || !read(words[3], record.signal) ||
      !read(words[4], record.start_error) || !read(words[5], step) ||
      !read(words[6], record.ended_at) || step < 0 || step > static_cast<int>(StartStep::Device)) {
    return std::nullopt;
  }
  record.start_step = static_cast<StartStep>(step);
  return record;
}

}  // namespace berth
