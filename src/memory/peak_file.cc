#include "memory/peak_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <optional>

#include "base/fd.h"
#include "base/paths.h"

namespace berth {
namespace {

constexpr off_t kLongest = 4 << 20;

// "PEAK\tNUMBER,NUMBER\tKEY\n", with \n, \t and \\ for those characters in the key.

std::string line_of(const Recipe& recipe, Bytes peak) {
  std::string line = fmt::format("{}\t{}\t", peak.count, fmt::join(recipe.numbers, ","));
  for (const char c : recipe.key) {
    if (c == '\n' || c == '\t' || c == '\\') {
      line += '\\';
    }
    line += c == '\n' ? 'n' : c == '\t' ? 't' : c;
  }
  return line + '\n';
}

template <class Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) {
    return false;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
      plain += text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i];
    } else {
      plain += text[i];
    }
  }
  return plain;
}

/// Nothing for a line that makes no sense: somebody may have died while writing it.
std::optional<std::pair<Recipe, Bytes>> parse(std::string_view line) {
  std::pair<Recipe, Bytes> entry;
  if (!take_number(line, entry.second.count) || entry.second <= Bytes{} ||
      !line.starts_with('\t')) {
    return std::nullopt;
  }
  line.remove_prefix(1);
  while (!line.empty() && line.front() != '\t') {
    double number = 0;
    if (!take_number(line, number)) {
      return std::nullopt;
    }
    entry.first.numbers.push_back(number);
    line.remove_prefix(line.starts_with(',') ? 1 : 0);
  }
  if (line.empty()) {
    return std::nullopt;
  }
  entry.first.key = unescaped(line.substr(1));
  return entry;
}

std::string read_from(int file, off_t at) {
  std::string bytes;
  char buffer[65536];
  for (ssize_t got = 0; (got = ::pread(file, buffer, sizeof buffer, at)) > 0; at += got) {
    bytes.append(buffer, static_cast<std::size_t>(got));
  }
  return bytes;
}

/// The newer half takes the place of the whole. Nobody else does so meanwhile; what others add in
/// that moment may be lost, and is not missed.
void shorten(const std::string& path, int file, off_t size) {
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    return;
  }
  std::string kept = read_from(file, size - kLongest / 2);
  kept.erase(0, kept.find('\n') + 1);
  const std::string fresh = path + ".new";
  const Fd out(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (out && ::write(out.get(), kept.data(), kept.size()) == static_cast<ssize_t>(kept.size())) {
    ::rename(fresh.c_str(), path.c_str());
  }
}

}  // namespace

PeakFile::PeakFile(std::string path, Visit visit)
    : path_(std::move(path)), visit_(std::move(visit)) {
  (void)make_folder(path_.substr(0, path_.rfind('/'))).has_value();
  const Fd file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (file && ::fstat(file.get(), &status) == 0 && status.st_size > kLongest) {
    shorten(path_, file.get(), status.st_size);
  }
  read();
}

void PeakFile::read() {
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0 || (status.st_ino == inode_ && status.st_size <= read_)) {
    return;
  }
  const Fd file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || ::fstat(file.get(), &status) != 0) {
    return;
  }
  if (status.st_ino != inode_ || status.st_size < read_) {
    inode_ = status.st_ino;
    read_ = 0;
  }
  const std::string bytes = read_from(file.get(), read_);
  for (std::size_t at = 0, end = 0; (end = bytes.find('\n', at)) != bytes.npos; at = end + 1) {
    read_ += static_cast<off_t>(end + 1 - at);
    if (const auto entry = parse(std::string_view(bytes).substr(at, end - at))) {
      visit_(entry->first, entry->second);
    }
  }
}

void PeakFile::add(const Recipe& recipe, Bytes peak) {
  const std::string line = line_of(recipe, peak);
  const Fd file(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  // One write each: lines of several processes do not mix.
  if (!file || ::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    visit_(recipe, peak);
    return;
  }
  read();
}

}  // namespace berth
