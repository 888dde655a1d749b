#include "gpu/process_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "gpu/proc_stat.h"

namespace berth {
namespace {

using Owner = std::optional<JobId>;

/// The value of NAME in the text of /proc/PID/environ.
std::optional<std::string_view> find_variable(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    const std::string_view entry = environment.substr(0, environment.find('\0'));
    environment.remove_prefix(std::min(entry.size() + 1, environment.size()));
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

/// One pass over the processes; remembers the ancestors that it has climbed.
class OwnerSearch {
 public:
  OwnerSearch(const std::string& run, const std::string& proc, std::span<const JobRoot> jobs,
              const std::map<pid_t, JobId>& last_owners)
      : run_(run), proc_(proc), last_owners_(last_owners) {
    for (const JobRoot& job : jobs) {
      roots_[job.root] = job.job;
    }
  }

  Owner find(pid_t pid) {
    if (const auto known = by_process_.find(pid); known != by_process_.end()) {
      return known->second;
    }
    Owner owner = climb(pid);
    if (!owner) {
      owner = read_environment(pid);
    }
    if (!owner && !read_proc_stat(proc_, pid)) {
      owner = last_owner(pid);
    }
    by_process_[pid] = owner;
    return owner;
  }

 private:
  Owner root(pid_t pid) const {
    const auto found = roots_.find(pid);
    return found == roots_.end() ? Owner() : Owner(found->second);
  }

  Owner last_owner(pid_t pid) const {
    const auto found = last_owners_.find(pid);
    return found != last_owners_.end() && runs(found->second) ? Owner(found->second) : Owner();
  }

  bool runs(JobId job) const {
    return std::any_of(roots_.begin(), roots_.end(),
                       [job](const auto& entry) { return entry.second == job; });
  }

  Owner climb(pid_t pid) {
    std::vector<pid_t> passed;
    Owner owner;
    // Parents change while we look: a bound keeps a cycle of reused numbers from holding us.
    constexpr std::size_t kDeepest = 4096;
    while (pid > 1 && passed.size() < kDeepest) {
      if (const auto known = by_ancestor_.find(pid); known != by_ancestor_.end()) {
        owner = known->second;
        break;
      }
      passed.push_back(pid);
      const std::optional<ProcStat> stat = read_proc_stat(proc_, pid);
      for (const pid_t leader : {pid, stat ? stat->group : 0, stat ? stat->session : 0}) {
        owner = owner ? owner : root(leader);
      }
      if (owner || !stat) {
        break;
      }
      pid = stat->parent;
    }
    for (const pid_t ancestor : passed) {
      by_ancestor_[ancestor] = owner;
    }
    return owner;
  }

  Owner read_environment(pid_t pid) const {
    if (run_.empty()) {
      return std::nullopt;
    }
    const auto environment = read_small_file(fmt::format("{}/{}/environ", proc_, pid));
    if (!environment || find_variable(*environment, "BERTH_RUN") != run_) {
      return std::nullopt;
    }
    const std::string_view text = find_variable(*environment, "BERTH_JOB_ID").value_or("");
    JobId job;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), job.value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole && runs(job) ? Owner(job) : std::nullopt;
  }

  const std::string& run_;
  const std::string& proc_;
  const std::map<pid_t, JobId>& last_owners_;
  std::map<pid_t, JobId> roots_;
  std::map<pid_t, Owner> by_ancestor_;
  std::map<pid_t, Owner> by_process_;
};

}  // namespace

ProcessTree::ProcessTree(std::string run, std::string proc)
    : run_(std::move(run)), proc_(std::move(proc)) {}

std::vector<DeviceUse> ProcessTree::attribute(std::span<const DeviceSample> samples,
                                              std::span<const JobRoot> jobs) {
  OwnerSearch search(run_, proc_, jobs, last_owners_);
  std::map<pid_t, JobId> owners;
  std::vector<DeviceUse> uses;
  uses.reserve(samples.size());
  for (const DeviceSample& sample : samples) {
    DeviceUse& use = uses.emplace_back();
    Bytes ours;
    Bytes others;
    for (const ProcessUse& process : sample.processes) {
      if (const Owner owner = search.find(process.pid)) {
        owners[process.pid] = *owner;
        use.jobs[*owner] += process.memory;
        ours += process.memory;
      } else {
        others += process.memory;
      }
    }
    // The device's own sum knows more than its list, which may leave out graphics and other users.
    use.foreign = sample.used ? std::max(Bytes{}, *sample.used - ours) : others;
  }
  last_owners_ = std::move(owners);
  return uses;
}

}  // namespace berth
