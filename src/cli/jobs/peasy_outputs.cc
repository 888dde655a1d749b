#include "cli/jobs/peasy_outputs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <set>
#include <string>

namespace berth {
namespace {

/// The path that a pattern without places for numbers stands for.
std::string path_of(const std::string& pattern, const std::string& directory) {
  std::string path = pattern.starts_with('/') ? "" : directory + "/";
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    path += pattern[at];
    at += pattern.substr(at, 2) == "%%" ? 1 : 0;
  }
  return path;
}

}  // namespace

Result<void> check_fresh_outputs(const TextJobs& batch, const JobDescription& defaults) {
  std::set<std::string> named;
  std::string problems;
  for (std::size_t i = 0; i < batch.jobs.size(); ++i) {
    const JobDescription& job = batch.jobs[i].description;
    if (job.output.empty() || job.output == defaults.output) {
      continue;
    }
    const std::string path = path_of(job.output, defaults.directory);
    struct stat info {};
    // What is no file, as /dev/null, loses nothing.
    const bool exists = ::stat(path.c_str(), &info) == 0;
    const bool is_file = !exists || S_ISREG(info.st_mode);
    if (exists && is_file) {
      problems += fmt::format("\n  line {}: {} exists already", batch.lines[i], path);
    } else if (is_file && !named.insert(path).second) {
      problems +=
          fmt::format("\n  line {}: {} is the output of another job, too", batch.lines[i], path);
    }
  }
  if (problems.empty()) {
    return {};
  }
  return fail(ErrorCode::Refused, fmt::format("nothing was queued, because output would be lost "
                                              "(--overwrite queues the jobs all the same):{}",
                                              problems));
}

}  // namespace berth
