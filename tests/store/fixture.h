// Shared by the tests of the store: a temporary folder, jobs, and the comparison of records.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "store/store.h"

namespace berth {

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() {
    std::string pattern = ::testing::TempDir() + "berth-store-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    path_ = folder_ + "/berth.db";
  }
  ~StoreTest() override {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  /// Opens the store, or closes and reopens it.
  Store& open() {
    store_.reset();
    Result<std::unique_ptr<Store>> opened = Store::open(path_);
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    store_ = std::move(*opened);
    return *store_;
  }

  std::string folder_;
  std::string path_;
  std::unique_ptr<Store> store_;
};

#define EXPECT_OK(expression)                                    \
  do {                                                           \
    const auto result_ = (expression);                           \
    EXPECT_TRUE(result_.has_value()) << result_.error().message; \
  } while (false)

inline Time at(std::int64_t seconds) { return Time(std::chrono::seconds(1'700'000'000 + seconds)); }

inline JobDescription job_named(std::string name) {
  JobDescription job;
  job.name = std::move(name);
  job.command = "true";
  job.directory = "/tmp";
  job.environment = {"A=1", "B=2"};
  return job;
}

inline JobId add(Store& store, JobDescription description, Time submitted = at(0)) {
  const JobId id = store.jobs().next_id();
  EXPECT_OK(store.jobs().insert(id, 1, std::move(description), submitted));
  return id;
}

inline Ending ending(Outcome outcome, Time when) {
  Ending result;
  result.outcome = outcome;
  result.ended = when;
  return result;
}

/// Every field in words: equal records have equal texts.
inline std::string text(const JobSpec& spec) {
  std::string after;
  for (const Dependency& each : spec.after) {
    after += fmt::format("{}/{} ", each.job.value, static_cast<int>(each.when));
  }
  const Needs& needs = spec.needs;
  return fmt::format(
      "gpus {} share {} memory {} model '{}' only {} exclude {} prefer {} mps {} {} priority {} "
      "expected {} "
      "weight {} limit {} begin {} retry {} {} {} {} after {} held {}",
      needs.gpus, needs.share, needs.memory.count, needs.model, needs.only, needs.exclude,
      needs.prefer, needs.mps, needs.thread_percentage, spec.priority, spec.expected.count(),
      spec.weight, spec.limit.count(), spec.begin.time_since_epoch().count(), spec.retry.most,
      spec.retry.backoff.count(), spec.retry.on_failure, spec.retry.on_time_limit, after,
      spec.held);
}

inline std::string text(const JobDescription& job) {
  return fmt::format(
      "{} name '{}' project '{}' command '{}' directory '{}' environment {} output '{}' error "
      "'{}' labels {} sweep '{}' parameters {} index {} warning {} {} requeue {} user {}",
      text(job.spec), job.name, job.project, job.command, job.directory, job.environment,
      job.output, job.error, job.labels, job.sweep, job.parameters,
      job.array_index ? std::to_string(*job.array_index) : "none", job.warning_signal,
      job.spec.warn_before.count(), job.spec.retry.when_lost, job.user);
}

inline std::string text(const std::optional<Ending>& end) {
  if (!end) {
    return "no end";
  }
  return fmt::format(
      "outcome {} reason {} code {} signal {} ended {} peak {} gpu {} energy {} '{}'",
      outcome_name(end->outcome), static_cast<int>(end->reason), end->exit_code, end->signal,
      end->ended.time_since_epoch().count(), end->peak.count, end->gpu_time.count(),
      end->energy ? fmt::format("{}", *end->energy) : "none", end->message);
}

inline std::string text(const StoredAttempt& attempt) {
  return fmt::format("job {} attempt {} devices {} begun {} started {} pid {} logs '{}' '{}' {}",
                     attempt.job.value, attempt.attempt, attempt.devices,
                     attempt.begun.time_since_epoch().count(),
                     attempt.started.time_since_epoch().count(), attempt.pid, attempt.stdout_path,
                     attempt.stderr_path, text(attempt.ending));
}

inline std::string text(const JobRecord& job) {
  return fmt::format(
      "{} {} attempt {} submitted {} not before {} started {} | {} | {}", job.id.value,
      phase_name(job.phase), job.attempt, job.submitted.time_since_epoch().count(),
      job.not_before.time_since_epoch().count(), job.started.time_since_epoch().count(),
      text(job.description), text(job.ending));
}

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::vector<std::uint64_t> ids(const JobPage& page) {
  std::vector<std::uint64_t> result;
  for (const JobRecord& job : page.jobs) {
    result.push_back(job.id.value);
  }
  return result;
}

}  // namespace berth
