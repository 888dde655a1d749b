// LineOptions: what words `key=value` say of a job. They stand before the command of a job line
// (`@gpus=2 train.py`), and flags of the command line mean the same (`--gpus 2`): which words there
// are, what each may be and what it does to a job is here, and nowhere else.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/job.h"

namespace berth {

/// A job to follow, by its name or by its number in the same input.
struct AfterName {
  Dependency::When when = Dependency::When::Ok;
  std::string job;
};

/// "ok:NAME,any:3,notok:x"; a job without a word before it is to end well.
Result<std::vector<AfterName>> parse_after(std::string_view text);

/// What was not given is absent.
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
  std::optional<Duration> timeout;  // kForever: none
  std::optional<std::uint16_t> retries;
  std::vector<AfterName> after;

  /// One option. An error says what its value may be.
  Result<void> set(std::string_view key, std::string_view value);

  /// Over what `spec` says already; MPS is that of this process's user. What is left for the caller
  /// are the names and the jobs to follow, and Needs::settle() once nothing more is said of it.
  void apply(JobSpec& spec) const;
};

/// Takes the options off the front of `line`, which then is the command; after an error it begins
/// with the word that is wrong.
Result<LineOptions> take_options(std::string_view& line);

/// The jobs of an input so far, for those that follow them.
class EarlierJobs {
 public:
  /// The job's place in the input, from 0.
  Result<std::size_t> find(const AfterName& after) const;

  /// The next job. A name that an earlier one had is this one's from here on.
  void add(const std::optional<std::string>& name);

 private:
  std::map<std::string, std::size_t, std::less<>> places_;
  std::size_t count_ = 0;
};

}  // namespace berth
