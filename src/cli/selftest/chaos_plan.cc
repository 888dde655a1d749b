#include "cli/selftest/chaos_plan.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

namespace berth {
namespace {

/// How the job ends is a function of its number alone, so that a wrong end can be told by it.
void plan_end(ChaosJob& job) {
  constexpr int kSignals[] = {SIGKILL, SIGTERM, SIGUSR1};
  if (job.number % 12 == 11) {
    job.stubborn = true;
    job.signal = SIGKILL;
    return;
  }
  const int code = 1 + static_cast<int>(job.number % 200);
  switch (job.number % 10) {
    case 5:
    case 6:
      job.exit_code = code;
      break;
    case 7:
      job.signal = kSignals[job.number / 10 % std::size(kSignals)];
      break;
    case 8:
      job.failures = job.retries = 1;
      break;
    case 9:
      job.failures = job.retries = 2;
      job.exit_code = job.number % 20 == 19 ? code : 0;
      break;
    default:
      break;
  }
}

ChaosJob plan_job(std::uint32_t number, const std::vector<ChaosJob>& earlier, Random& random) {
  constexpr std::uint64_t kLongestMs = 120;
  ChaosJob job;
  job.number = number;
  job.gpus = number % 17 == 0 ? 0 : number % 13 == 0 ? 2 : 1;
  if (random.below(3) != 0) {
    job.length = std::chrono::milliseconds(random.below(kLongestMs));
  }
  plan_end(job);
  if (!earlier.empty() && random.below(5) == 0) {
    const ChaosJob& other = earlier[random.below(earlier.size())];
    job.after = other.number;
    // Never one that cannot come true: a submission of it would rightly be refused.
    if (random.below(2) == 0) {
      job.when = other.succeeds() ? Dependency::When::Ok : Dependency::When::NotOk;
    }
  }
  return job;
}

}  // namespace

std::vector<std::vector<ChaosJob>> plan_chaos(std::uint32_t count, Random& random) {
  constexpr std::uint64_t kMostInBatch = 25;
  std::vector<std::vector<ChaosJob>> batches;
  std::vector<ChaosJob> earlier;
  const std::uint32_t stormy = count - jobs_after_storm(count);
  for (std::uint32_t number = 1; number <= stormy;) {
    const auto left = static_cast<std::uint64_t>(stormy - number + 1);
    const std::uint64_t size = std::min(1 + random.below(kMostInBatch), left);
    std::vector<ChaosJob>& batch = batches.emplace_back();
    while (batch.size() < size) {
      batch.push_back(plan_job(number++, earlier, random));
    }
    earlier.insert(earlier.end(), batch.begin(), batch.end());
  }
  std::vector<ChaosJob>& after = batches.emplace_back();
  for (std::uint32_t number = stormy + 1; number <= count; ++number) {
    ChaosJob& job = after.emplace_back();
    job.number = number;
  }
  return batches;
}

std::uint32_t jobs_after_storm(std::uint32_t count) { return std::min(count / 5, 20U); }

std::string chaos_command(const ChaosJob& job, const std::string& program,
                          const std::string& ledger) {
  const auto quoted = [](const std::string& word) {
    std::string text = "'";
    for (const char c : word) {
      text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return text + "'";
  };
  return fmt::format("exec {} chaosjob {} {} {} {} {} {} {}", quoted(program), quoted(ledger),
                     job.number, job.length.count(), job.failures, job.exit_code, job.signal,
                     job.stubborn ? 1 : 0);
}

}  // namespace berth
