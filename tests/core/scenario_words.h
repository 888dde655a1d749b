// Shared by the scenario languages: lines of words, jobs with names, and the options of a
// submission. tests/scenarios/README.md describes the words.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/job.h"
#include "core/owners.h"

namespace berth {

using Words = std::vector<std::string>;

/// The parts between separators, without empty ones.
Words split(const std::string& text, char separator);

/// The first mistake ends a scenario.
struct Mistake {
  std::string text;
};

inline void require(bool holds, const std::string& problem) {
  if (!holds) {
    throw Mistake{problem};
  }
}

inline void must_do(const Result<void>& done) {
  require(done.has_value(), done ? "" : "refused: " + done.error().message);
}

template <class T>
T must(Result<T> result) {
  require(result.has_value(), result ? "" : result.error().message);
  return std::move(*result);
}

/// Each word as "key=value"; a word without "=" has an empty value.
std::vector<std::pair<std::string, std::string>> key_values(const Words& words, std::size_t from);

DeviceId device_in(const std::string& word);
std::uint32_t number_in(const std::string& word);

/// Calls `execute` for each line that is not empty; comments are cut off. Returns an empty text, or
/// "line N: what was wrong".
std::string for_each_line(const std::string& text,
                          const std::function<void(const Words&, const std::string&)>& execute,
                          const std::function<void()>& at_end);

/// The jobs of a scenario, by their names.
class ScenarioJobs {
 public:
  void remember(const std::string& name, JobId job);
  JobId id(const std::string& name) const;
  const std::string& name(JobId job) const { return names_.at(job); }

  /// The spec that the words of a `submit` or `edit` describe, from the third word on.
  JobSpec spec_of(const Words& words);
  /// The N of a word `array=N`; 0: no array.
  static std::uint32_t array_in(const Words& words);

 private:
  bool ask(JobSpec& spec, const std::string& key, const std::string& value);
  bool ask_of_devices(Needs& needs, const std::string& key, const std::string& value);
  std::vector<Dependency> dependencies(const std::string& value) const;

  Owners owners_;
  std::map<std::string, JobId> ids_;
  std::map<JobId, std::string> names_;
};

}  // namespace berth
