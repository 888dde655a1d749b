#include "daemon/open_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>

#include "daemon/output_path.h"

namespace berth {
namespace {

std::size_t hashed(const std::string& path, uid_t user) {
  return std::hash<std::string>{}(path + '\0' + std::to_string(user));
}

bool follows(const JobDescription& job, JobId other) {
  const std::vector<Dependency>& after = job.spec.after;
  return std::any_of(after.begin(), after.end(),
                     [&](const Dependency& one) { return one.job == other; });
}

}  // namespace

std::optional<OpenOutputs::Key> OpenOutputs::file_of(const std::string& pattern,
                                                     const JobDescription& job) {
  if (pattern.empty() || pattern.starts_with("/dev/") || has_sign(pattern, 'j')) {
    return std::nullopt;
  }
  if (!has_sign(pattern, 'a')) {
    return Key{hashed(output_path(pattern, JobId{}, job), job.user), 0};
  }
  JobDescription any = job;
  any.array_index.reset();
  return Key{hashed(output_path(pattern, JobId{}, any) + "%a", job.user),
             job.array_index.value_or(0)};
}

std::vector<OpenOutputs::Key> OpenOutputs::files_of(const JobDescription& job) {
  std::vector<Key> files;
  for (const std::string* pattern : {&job.output, &job.error}) {
    const std::optional<Key> file = file_of(*pattern, job);
    if (file && (files.empty() || files.front() != *file)) {
      files.push_back(*file);
    }
  }
  return files;
}

const OpenOutputs::Claim* OpenOutputs::find(const Key& file, std::uint32_t count) const {
  const std::uint64_t end = std::uint64_t{file.second} + count;
  auto claim = claims_.upper_bound({file.first, static_cast<std::uint32_t>(end - 1)});
  if (claim == claims_.begin()) {
    return nullptr;
  }
  claim = std::prev(claim);
  const auto& [key, claimed] = *claim;
  const bool overlaps =
      key.first == file.first && std::uint64_t{key.second} + claimed.count > file.second;
  return overlaps ? &claimed : nullptr;
}

Result<void> OpenOutputs::check(const JobDescription& job, std::uint32_t count) const {
  for (const std::string* pattern : {&job.output, &job.error}) {
    const std::optional<Key> file = file_of(*pattern, job);
    const Claim* other = file ? find(*file, count) : nullptr;
    if (other == nullptr || (count == 1 && other->count == 1 && follows(job, other->first))) {
      continue;
    }
    const std::string jobs =
        other->count == 1 ? fmt::format("job {}, which has not ended,", other->first.value)
                          : fmt::format("jobs {}-{}, which have not all ended,", other->first.value,
                                        other->first.value + other->count - 1);
    return fail(
        ErrorCode::Refused,
        fmt::format("{} already {} to {}: put %j (the job's number) into the path, or "
                    "submit it with --after {}",
                    jobs, other->count == 1 ? "writes" : "write", *pattern, other->first.value));
  }
  return {};
}

Result<void> OpenOutputs::check_rerun(JobId id, const JobDescription& job) const {
  return jobs_with(id) == jobs_.end() ? check(job, 1) : Result<void>();
}

std::map<JobId, OpenOutputs::Jobs>::const_iterator OpenOutputs::jobs_with(JobId job) const {
  auto found = jobs_.upper_bound(job);
  if (found == jobs_.begin()) {
    return jobs_.end();
  }
  found = std::prev(found);
  return job.value < found->first.value + found->second.count ? found : jobs_.end();
}

void OpenOutputs::claim(JobId first, std::uint32_t count, const JobDescription& job) {
  if (const auto known = jobs_with(first); known != jobs_.end()) {
    ++jobs_.at(known->first).live;  // of an array, and others of it have kept the files
    return;
  }
  std::vector<Key> files = files_of(job);
  if (files.empty()) {
    return;
  }
  // Members of an array that are told one by one, as after a restart, stay one array.
  if (const auto before = jobs_with(JobId{first.value - 1}); before != jobs_.end()) {
    Jobs& array = jobs_.at(before->first);
    bool continues = array.files.size() == files.size();
    for (std::size_t i = 0; continues && i < files.size(); ++i) {
      const auto claimed = claims_.find(array.files[i]);
      continues = array.files[i].first == files[i].first && claimed != claims_.end() &&
                  claimed->second.first == before->first &&
                  array.files[i].second + array.count == files[i].second;
    }
    if (continues) {
      for (const Key& file : array.files) {
        claims_[file].count += count;
      }
      array.count += count;
      array.live += count;
      return;
    }
  }
  for (const Key& file : files) {
    claims_[file] = {first, count};
  }
  jobs_[first] = {count, count, std::move(files)};
}

void OpenOutputs::left(JobId job) {
  const auto found = jobs_with(job);
  if (found == jobs_.end() || --jobs_.at(found->first).live > 0) {
    return;
  }
  for (const Key& file : found->second.files) {
    // One that follows may have it now.
    if (const auto claim = claims_.find(file);
        claim != claims_.end() && claim->second.first == found->first) {
      claims_.erase(claim);
    }
  }
  jobs_.erase(found);
}

}  // namespace berth
