#include "base/process_facts.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>

#include "base/small_files.h"

namespace berth {

std::optional<ProcStat> read_proc_stat(pid_t pid, const std::string& proc) {
  const std::optional<std::string> text = read_small_file(fmt::format("{}/{}/stat", proc, pid));
  if (!text) {
    return std::nullopt;
  }
  // The name stands in brackets and may itself hold blanks and brackets: start behind the last one.
  const std::size_t name_end = text->rfind(')');
  if (name_end == text->npos) {
    return std::nullopt;
  }
  ProcStat stat;
  unsigned long long start = 0;
  const int fields = std::sscanf(text->c_str() + name_end + 1,
                                 " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
                                 "%*d %*d %llu",
                                 &stat.state, &stat.parent, &stat.group, &stat.session, &start);
  if (fields != 5) {
    return std::nullopt;
  }
  stat.start = start;
  return stat;
}

std::optional<uid_t> user_of_process(pid_t pid, const std::string& proc) {
  const std::string status =
      read_small_file(fmt::format("{}/{}/status", proc, pid)).value_or(std::string());
  constexpr std::string_view kLine = "\nUid:\t";
  const std::size_t line = status.find(kLine);
  uid_t user = 0;
  if (line == status.npos ||
      std::from_chars(status.data() + line + kLine.size(), status.data() + status.size(), user)
              .ec != std::errc()) {
    return std::nullopt;
  }
  return user;
}

}  // namespace berth
