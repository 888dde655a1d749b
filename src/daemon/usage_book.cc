#include "daemon/usage_book.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "base/fd.h"
#include "base/read_file.h"

namespace berth {
namespace {

constexpr Duration kSaveEvery = std::chrono::minutes(1);

}  // namespace

void UsageBook::add(Attempt attempt, const std::vector<std::string>& devices, Time at,
                    const std::vector<UsageLog::Reading>& readings, std::optional<double> energy) {
  auto found = open_.find(attempt);
  if (found == open_.end()) {
    std::optional<UsageLog> before = load(attempt);
    const bool goes_on = before && before->devices() == devices;
    found =
        open_.emplace(attempt, Open{goes_on ? std::move(*before) : UsageLog(devices), at}).first;
  }
  Open& open = found->second;
  open.log.add(at, readings);
  open.log.set_energy(energy);
  if (at - open.saved >= kSaveEvery) {
    open.saved = at;
    save(attempt, open.log);
  }
}

void UsageBook::save_all() {
  for (const auto& [attempt, open] : open_) {
    save(attempt, open.log);
  }
}

void UsageBook::end(Attempt attempt) {
  if (const auto found = open_.find(attempt); found != open_.end()) {
    save(attempt, found->second.log);
    open_.erase(found);
  }
}

std::optional<UsageLog> UsageBook::find(Attempt attempt) const {
  const auto found = open_.find(attempt);
  return found != open_.end() ? std::optional(found->second.log) : load(attempt);
}

void UsageBook::remove(Attempt attempt) {
  open_.erase(attempt);
  ::unlink(path(attempt).c_str());
}

std::string UsageBook::path(Attempt attempt) const {
  return fmt::format("{}/{}.{}", folder_, attempt.first.value, attempt.second);
}

std::optional<UsageLog> UsageBook::load(Attempt attempt) const {
  const Result<std::string> bytes = read_file(path(attempt));
  return bytes ? UsageLog::decode(*bytes) : std::nullopt;
}

void UsageBook::save(Attempt attempt, const UsageLog& log) const {
  ::mkdir(folder_.c_str(), 0700);
  replace_chart_file(path(attempt), log.encode());
}

void replace_chart_file(const std::string& path, std::string_view bytes) {
  const std::string made = path + "~";
  {
    const Fd file(::open(made.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file ||
        ::write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
      ::unlink(made.c_str());
      return;
    }
  }
  std::rename(made.c_str(), path.c_str());
}

}  // namespace berth
