#include "core/job_bounds.h"

#include <fmt/format.h>

#include <map>
#include <string>

#include "base/bounds.h"

namespace berth {
namespace {

/// What a std::map takes for a pair of texts beside them.
constexpr std::size_t kNode = 48;
/// What an allocation takes beside what was asked for.
constexpr std::size_t kBlock = 16;

std::size_t heap_of(const std::string& text) {
  return text.capacity() < sizeof(std::string) / 2 ? 0 : text.capacity() + 1 + kBlock;
}

std::size_t heap_of(const std::vector<std::string>& texts) {
  std::size_t bytes = texts.empty() ? 0 : kBlock;
  for (const std::string& text : texts) {
    bytes += sizeof text + heap_of(text);
  }
  return bytes;
}

std::size_t heap_of(const std::map<std::string, std::string>& pairs) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : pairs) {
    bytes += kNode + sizeof key + sizeof value + heap_of(key) + heap_of(value);
  }
  return bytes;
}

Failure too_long(std::string_view what, std::size_t is, std::size_t most, std::string_view advice) {
  return fail(ErrorCode::Usage, fmt::format("{} is {} bytes long: at most {} can be{}{}", what, is,
                                            most, advice.empty() ? "" : ". ", advice));
}

struct Field {
  std::string_view name;
  const std::string& text;
  std::size_t most;
};

Result<void> check_texts(const JobDescription& job) {
  if (job.command.size() > kLongestCommand) {
    return too_long("command", job.command.size(), kLongestCommand,
                    "No shell can be given more: put the command into a script");
  }
  for (const Field& field : {Field{"name", job.name, kLongestName},
                             {"project", job.project, kLongestName},
                             {"sweep", job.sweep, kLongestName},
                             {"model", job.spec.needs.model, kLongestName},
                             {"on", job.spec.needs.target, kLongestName},
                             {"directory", job.directory, kLongestPath},
                             {"output", job.output, kLongestPath},
                             {"error", job.error, kLongestPath}}) {
    if (field.text.size() > field.most) {
      return too_long(field.name, field.text.size(), field.most, "");
    }
  }
  return {};
}

Result<void> check_devices(const Needs& needs) {
  for (const auto& [what, names] : {std::pair{"only", &needs.only},
                                    {"exclude", &needs.exclude},
                                    {"prefer", &needs.prefer},
                                    {"cluster_options", &needs.target_options}}) {
    if (names->size() > kMostDevices) {
      return fail(ErrorCode::Usage, fmt::format("{} names {} devices: at most {} can be", what,
                                                names->size(), kMostDevices));
    }
    for (const std::string& name : *names) {
      if (name.size() > kLongestDevice) {
        return too_long(fmt::format("a device in {}", what), name.size(), kLongestDevice, "");
      }
    }
  }
  return {};
}

struct PairBounds {
  std::string_view what;
  std::size_t count;
  std::size_t text;
  std::size_t all;
};

Result<void> check_pairs(const std::map<std::string, std::string>& pairs, const PairBounds& most) {
  if (pairs.size() > most.count) {
    return fail(ErrorCode::Usage, fmt::format("{} has {} entries: at most {} can be", most.what,
                                              pairs.size(), most.count));
  }
  std::size_t bytes = 0;
  for (const auto& [key, value] : pairs) {
    const std::size_t longer = std::max(key.size(), value.size());
    if (longer > most.text) {
      return too_long(fmt::format("an entry of {}", most.what), longer, most.text, "");
    }
    bytes += key.size() + value.size();
  }
  if (bytes > most.all) {
    return too_long(fmt::format("all of {} together", most.what), bytes, most.all, "");
  }
  return {};
}

Result<void> check_environment(const std::vector<std::string>& environment) {
  if (environment.size() > kMostVariables) {
    return fail(ErrorCode::Usage,
                fmt::format("environment has {} variables: at most {} can be. Unset some of them",
                            environment.size(), kMostVariables));
  }
  std::size_t bytes = 0;
  for (const std::string& variable : environment) {
    if (variable.size() > kLongestVariable) {
      return too_long(
          fmt::format("{} in environment",
                      variable.substr(0, std::min<std::size_t>(variable.find('='), 40))),
          variable.size(), kLongestVariable,
          "No program can be given more: put it into a file, or unset it");
    }
    bytes += variable.size() + 1 + sizeof(char*);
  }
  if (bytes > kLargestEnvironment) {
    return too_long("environment", bytes, kLargestEnvironment,
                    "No program can be given more: put it into files, or unset some of it");
  }
  return {};
}

}  // namespace

Result<void> check_bounds(const JobDescription& job) {
  if (Result<void> checked = check_texts(job); !checked) {
    return checked;
  }
  if (Result<void> checked = check_devices(job.spec.needs); !checked) {
    return checked;
  }
  if (Result<void> checked =
          check_pairs(job.labels, {"labels", kMostLabels, kLongestLabel, kLargestLabels});
      !checked) {
    return checked;
  }
  if (Result<void> checked = check_pairs(
          job.parameters, {"parameters", kMostParameters, kLongestParameter, kLargestParameters});
      !checked) {
    return checked;
  }
  if (job.spec.after.size() > kMostFollowed) {
    return fail(ErrorCode::Usage, fmt::format("after names {} jobs: at most {} can be",
                                              job.spec.after.size(), kMostFollowed));
  }
  return check_environment(job.environment);
}

std::size_t memory_of(const SubmittedJob& job) {
  const JobDescription& description = job.description;
  const Needs& needs = description.spec.needs;
  std::size_t bytes = sizeof job;
  for (const std::string* text :
       {&description.name, &description.project, &description.command, &description.directory,
        &description.output, &description.error, &description.sweep, &needs.model}) {
    bytes += heap_of(*text);
  }
  bytes += heap_of(needs.only) + heap_of(needs.exclude) + heap_of(needs.prefer);
  bytes += heap_of(needs.target) + heap_of(needs.target_options);
  bytes += heap_of(description.environment);
  bytes += heap_of(description.labels) + heap_of(description.parameters);
  bytes += description.spec.after.size() * sizeof(Dependency);
  bytes += job.follows.size() * sizeof(LocalDependency);
  return bytes;
}

std::string too_many_jobs() {
  return fmt::format("a submission holds at most {} different jobs: queue them in several",
                     kMostJobs);
}

Result<void> SubmissionMeter::add(const SubmittedJob& job) {
  if (counts_.size() == kMostJobs) {
    return fail(ErrorCode::Usage, too_many_jobs());
  }
  std::uint64_t follows = job.description.spec.after.size();
  for (const LocalDependency& other : job.follows) {
    // One that was refused is not there, and then nothing is queued.
    follows += other.position < counts_.size() ? counts_[other.position] : 1;
  }
  counts_.push_back(job.count);
  members_ += job.count;
  dependencies_ += job.count * follows;
  memory_ += memory_of(job);
  if (members_ > kMostInArray) {
    return fail(ErrorCode::Usage,
                fmt::format("a submission holds at most {} jobs, those of arrays counted: queue "
                            "them in several",
                            kMostInArray));
  }
  if (dependencies_ > kMostDependencies) {
    return fail(ErrorCode::Usage,
                fmt::format("a submission holds at most {} dependencies between jobs, for each "
                            "member of an array: queue them in several",
                            kMostDependencies));
  }
  if (memory_ > kMostJobMemory) {
    return fail(ErrorCode::Usage,
                fmt::format("the jobs of this submission take more than {} MiB, with what they "
                            "have in common counted for each: queue them in several",
                            kMostJobMemory >> 20));
  }
  return {};
}

}  // namespace berth
