#include "base/failpoint.h"

#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace berth {
namespace {

struct Failpoint {
  std::string name;
  enum class Action { Kill, Stop, Errno } action = Action::Kill;
  int error = 0;
  int left = std::numeric_limits<int>::max();
};

std::vector<Failpoint>& failpoints() {
  static std::vector<Failpoint> all;
  return all;
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value > 0
             ? std::optional(value)
             : std::nullopt;
}

std::optional<Failpoint> parse(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == word.npos) {
    return std::nullopt;
  }
  Failpoint point;
  point.name = word.substr(0, equals);
  std::string_view action = word.substr(equals + 1);
  if (const std::size_t star = action.find('*'); star != action.npos) {
    const std::optional<int> times = number(action.substr(star + 1));
    if (!times) {
      return std::nullopt;
    }
    point.left = *times;
    action = action.substr(0, star);
  }
  constexpr std::string_view kErrno = "errno:";
  if (action == "kill") {
    point.action = Failpoint::Action::Kill;
  } else if (action == "stop") {
    point.action = Failpoint::Action::Stop;
  } else if (action.starts_with(kErrno) && number(action.substr(kErrno.size()))) {
    point.action = Failpoint::Action::Errno;
    point.error = *number(action.substr(kErrno.size()));
  } else {
    return std::nullopt;
  }
  return point;
}

const bool kFromEnvironment = [] {
  const char* text = std::getenv("BERTH_FAILPOINTS");
  set_failpoints(text == nullptr ? "" : text);
  return true;
}();

}  // namespace

namespace failpoint_detail {

constinit std::atomic<bool> armed = false;

int hit(std::string_view name) {
  for (Failpoint& point : failpoints()) {
    if (point.name != name || point.left == 0) {
      continue;
    }
    --point.left;
    switch (point.action) {
      case Failpoint::Action::Kill:
        ::kill(::getpid(), SIGKILL);
        break;
      case Failpoint::Action::Stop:
        ::kill(::getpid(), SIGSTOP);
        break;
      case Failpoint::Action::Errno:
        return point.error;
    }
  }
  return 0;
}

}  // namespace failpoint_detail

void set_failpoints(std::string_view text) {
  failpoints().clear();
  while (!text.empty()) {
    const std::size_t end = text.find(';');
    if (std::optional<Failpoint> point = parse(text.substr(0, end))) {
      failpoints().push_back(std::move(*point));
    }
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
  failpoint_detail::armed.store(!failpoints().empty(), std::memory_order_relaxed);
}

}  // namespace berth
