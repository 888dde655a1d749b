// LineOptions: the options of a job as `key=value` words. They stand before the command of a job
// line (`@gpus=2 train.py`), and command-line flags mean the same (`--gpus 2`). The words, their
// allowed values and their effect on a job are defined here, and nowhere else.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/job_spec.h"

namespace berth {

/// A job to follow, by its name or by its number in the same input.
struct AfterName {
  Dependency::When when = Dependency::When::Ok;
  std::string job;
};

/// "ok:NAME,any:3,notok:x"; a job without a word before it must end well.
Result<std::vector<AfterName>> parse_after(std::string_view text);

/// Options that were not given are absent.
struct LineOptions {
  std::optional<std::string> name;
  std::optional<std::string> project;
  std::optional<std::uint32_t> gpus;
  std::optional<Claim> claim;
  std::optional<std::uint32_t> share;  // thousandths
  std::optional<bool> mps;
  std::optional<std::uint32_t> thread_percentage;  // with mps
  std::optional<std::int32_t> priority;
  std::optional<std::uint16_t> weight;
  std::optional<Duration> timeout;   // kForever: none
  std::optional<Duration> expected;  // kForever: unknown
  std::optional<std::uint16_t> retries;
  std::vector<AfterName> after;

  /// Sets one option. An error says what its value may be.
  Result<void> set(std::string_view key, std::string_view value);

  /// Overrides what `spec` says already; MPS is that of this process's user. The caller handles the
  /// names and the jobs to follow, and calls Needs::settle() once nothing more will be set.
  void apply(JobSpec& spec) const;
};

/// Removes the options from the front of `line`, which leaves the command. After an error, `line`
/// begins with the wrong word.
Result<LineOptions> take_options(std::string_view& line);

/// The jobs of an input so far, for later jobs that follow them.
class EarlierJobs {
 public:
  /// The job's place in the input, from 0.
  Result<std::size_t> find(const AfterName& after) const;

  /// Adds the next job. From here on, its name means this job, not an earlier one of that name.
  void add(const std::optional<std::string>& name);

 private:
  std::map<std::string, std::size_t, std::less<>> places_;
  std::size_t count_ = 0;
};

}  // namespace berth
