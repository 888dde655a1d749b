// `berth chaosjob`: one job of `berth selftest --chaos`. It writes its own start and end into the
// ledger, each by one append, and ends as it is told.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>

#include "base/fd.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/selftest/chaos_ledger.h"
#include "cli/toolkit/daemon_client.h"
#include "cli/toolkit/words.h"

namespace berth {
namespace {

std::int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

bool append(int ledger, const LedgerLine& line) {
  const std::string text = to_text(line);
  return ::write(ledger, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// Asks to be killed and does not heed it, until it is killed by force. Daemons may die meanwhile.
[[noreturn]] void insist_on_force(std::uint64_t id) {
  ::signal(SIGTERM, SIG_IGN);
  const std::string target = fmt::format("/v1/jobs/kill?select={}", id);
  for (;;) {
    if (Result<HttpClient> daemon = connect_running_daemon()) {
      (void)ask(*daemon, "POST", target).has_value();
    }
    constexpr int kPauseMilliseconds = 20;
    ::poll(nullptr, 0, kPauseMilliseconds);
  }
}

}  // namespace

int chaosjob_main(Words words) {
  constexpr std::size_t kWords = 7;  // LEDGER NUMBER MILLISECONDS FAILURES CODE SIGNAL STUBBORN
  constexpr int kBroken = 99;        // an end that no job of a storm has
  std::int64_t numbers[kWords] = {};
  if (words.size() != kWords) {
    return kBroken;
  }
  for (std::size_t i = 1; i < kWords; ++i) {
    numbers[i] = parse_integer(words[i], "the value").value_or(0);
  }
  const auto [unused, number, length, failures, code, signal, stubborn] = numbers;
  const Fd ledger(
      ::open(std::string(words[0]).c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  LedgerLine line;
  line.is_start = true;
  line.number = static_cast<std::uint32_t>(number);
  line.id = std::strtoull(environment_variable("BERTH_JOB_ID").c_str(), nullptr, 10);
  line.attempt =
      static_cast<std::uint16_t>(std::atoi(environment_variable("BERTH_ATTEMPT").c_str()));
  std::istringstream devices(environment_variable("BERTH_GPUS"));
  for (std::string device; std::getline(devices, device, ',');) {
    line.devices.push_back(device);
  }
  line.pid = ::getpid();
  line.time = now();
  if (!ledger || !append(ledger.get(), line)) {
    return kBroken;
  }
  if (stubborn != 0) {
    insist_on_force(line.id);
  }
  timespec left{length / 1000, length % 1000 * 1'000'000};
  while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
  line.is_start = false;
  line.time = now();
  if (!append(ledger.get(), line)) {
    return kBroken;
  }
  if (line.attempt <= failures) {
    return kChaosRetryCode;
  }
  if (signal != 0) {
    ::raise(static_cast<int>(signal));
  }
  return static_cast<int>(code);
}

}  // namespace berth
