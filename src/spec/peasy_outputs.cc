#include "spec/peasy_outputs.h"

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

std::vector<TextProblem> lost_outputs(const TextJobs& batch, const JobDescription& defaults) {
  std::set<std::string> named;
  std::vector<TextProblem> problems;
  for (std::size_t i = 0; i < batch.jobs.size() && problems.size() < TextJobs::kMostProblems; ++i) {
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
      problems.push_back({batch.lines[i], 1, fmt::format("{} exists already", path)});
    } else if (is_file && !named.insert(path).second) {
      problems.push_back(
          {batch.lines[i], 1, fmt::format("{} is the output of another job, too", path)});
    }
  }
  return problems;
}

}  // namespace berth
