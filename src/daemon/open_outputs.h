// OpenOutputs: the output files of jobs that have not ended. A second submission that names one of
// them would mix its output into that of the first, so it is refused. Jobs that name no file take
// no room here, and an array takes as much as a single job. Users do not get into each other's way:
// a file counts for the jobs of one user. Pure; owned by the loop's thread.
//
// A path with %j is never shared. Paths are compared as text, with %a (the array index) apart: the
// file log-3 of one job and index 3 of another's log-%a are not recognised as the same.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/description.h"

namespace berth {

class OpenOutputs {
 public:
  /// Whether `count` such jobs may be taken in. A job may write to the file of one that it follows.
  Result<void> check(const JobDescription& job, std::uint32_t count) const;
  /// The same for a job that has ended and is to run again.
  Result<void> check_rerun(JobId id, const JobDescription& job) const;
  /// From now on the files are those of the jobs with numbers from `first` on. A job that runs
  /// again takes its files back.
  void claim(JobId first, std::uint32_t count, const JobDescription& job);
  /// The job has ended; it may have no file here. Those of an array are free when all have ended.
  void left(JobId job);

  std::size_t size() const { return claims_.size(); }

 private:
  using Key = std::pair<std::size_t, std::uint32_t>;  // the path, hashed, and the first array index
  struct Claim {
    JobId first;
    std::uint32_t count = 0;
  };
  struct Jobs {
    std::uint32_t count = 0;
    std::uint32_t live = 0;
    std::vector<Key> files;
  };
  /// The key is nothing if the file is nobody's own.
  static std::optional<Key> file_of(const std::string& pattern, const JobDescription& job);
  static std::vector<Key> files_of(const JobDescription& job);
  const Claim* find(const Key& file, std::uint32_t count) const;
  std::map<JobId, Jobs>::const_iterator jobs_with(JobId job) const;

  std::map<Key, Claim> claims_;
  std::map<JobId, Jobs> jobs_;  // by their first numbers
};

}  // namespace berth
