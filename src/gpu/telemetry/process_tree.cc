#include "gpu/telemetry/process_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/process_facts.h"
#include "base/small_files.h"

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

/// Whether a cgroup is `ancestor` or below it.
bool is_within(std::string_view cgroup, std::string_view ancestor) {
  return cgroup.starts_with(ancestor) &&
         (cgroup.size() == ancestor.size() || cgroup[ancestor.size()] == '/');
}

/// One pass over the processes; remembers the ancestors that it has climbed.
class OwnerSearch {
 public:
  OwnerSearch(const std::string& run, const std::string& proc, std::span<const JobRoot> jobs,
              const std::map<pid_t, JobId>& last_owners)
      : run_(run), proc_(proc), last_owners_(last_owners), jobs_(jobs) {
    for (const JobRoot& job : jobs) {
      roots_[job.root] = &job;
    }
  }

  Owner find(pid_t pid) {
    if (const auto known = by_process_.find(pid); known != by_process_.end()) {
      return known->second;
    }
    const JobRoot* job = by_cgroup(pid);
    if (job == nullptr) {
      job = climb(pid);
      job = job != nullptr ? job : by_environment(pid);
      // A number may have gone to somebody else since the job's root died, and an environment says
      // what its owner likes.
      job = job != nullptr && user_of_process(pid, proc_) == job->user ? job : nullptr;
    }
    Owner owner = job != nullptr ? Owner(job->job) : Owner();
    if (!owner && !read_proc_stat(pid, proc_)) {
      owner = last_owner(pid);
    }
    by_process_[pid] = owner;
    return owner;
  }

 private:
  const JobRoot* root(pid_t pid) const {
    const auto found = roots_.find(pid);
    return found == roots_.end() ? nullptr : found->second;
  }

  /// Also of another user, as after sudo: only who may write the cgroup puts anybody into it.
  const JobRoot* by_cgroup(pid_t pid) const {
    if (std::none_of(jobs_.begin(), jobs_.end(),
                     [](const JobRoot& job) { return !job.cgroup.empty(); })) {
      return nullptr;
    }
    const auto text = read_small_file(fmt::format("{}/{}/cgroup", proc_, pid));
    // Of v2, which has no number and no controllers; on mixed machines there are others.
    const std::size_t line = !text                      ? std::string::npos
                             : text->starts_with("0::") ? 0
                                                        : text->find("\n0::");
    if (line == std::string::npos) {
      return nullptr;
    }
    std::string_view cgroup = std::string_view(*text).substr(text->find("0::", line) + 3);
    cgroup = cgroup.substr(0, cgroup.find('\n'));
    const auto found = std::find_if(jobs_.begin(), jobs_.end(), [&](const JobRoot& job) {
      return !job.cgroup.empty() && is_within(cgroup, job.cgroup);
    });
    return found == jobs_.end() ? nullptr : &*found;
  }

  Owner last_owner(pid_t pid) const {
    const auto found = last_owners_.find(pid);
    return found != last_owners_.end() && runs(found->second) ? Owner(found->second) : Owner();
  }

  bool runs(JobId job) const {
    return std::any_of(jobs_.begin(), jobs_.end(),
                       [job](const JobRoot& root) { return root.job == job; });
  }

  const JobRoot* climb(pid_t pid) {
    std::vector<pid_t> passed;
    const JobRoot* owner = nullptr;
    // Parents change while we look: a bound keeps a cycle of reused numbers from holding us.
    constexpr std::size_t kDeepest = 4096;
    while (pid > 1 && passed.size() < kDeepest) {
      if (const auto known = by_ancestor_.find(pid); known != by_ancestor_.end()) {
        owner = known->second;
        break;
      }
      passed.push_back(pid);
      const std::optional<ProcStat> stat = read_proc_stat(pid, proc_);
      for (const pid_t leader : {pid, stat ? stat->group : 0, stat ? stat->session : 0}) {
        owner = owner != nullptr ? owner : root(leader);
      }
      if (owner != nullptr || !stat) {
        break;
      }
      pid = stat->parent;
    }
    for (const pid_t ancestor : passed) {
      by_ancestor_[ancestor] = owner;
    }
    return owner;
  }

  const JobRoot* by_environment(pid_t pid) const {
    if (run_.empty()) {
      return nullptr;
    }
    const auto environment = read_small_file(fmt::format("{}/{}/environ", proc_, pid));
    if (!environment || find_variable(*environment, "BERTH_RUN") != run_) {
      return nullptr;
    }
    const std::string_view text = find_variable(*environment, "BERTH_JOB_ID").value_or("");
    JobId job;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), job.value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    const auto found = std::find_if(jobs_.begin(), jobs_.end(), [&](const JobRoot& root) {
      return whole && root.job == job && root.cgroup.empty();
    });
    return found == jobs_.end() ? nullptr : &*found;
  }

  const std::string& run_;
  const std::string& proc_;
  const std::map<pid_t, JobId>& last_owners_;
  std::span<const JobRoot> jobs_;
  std::map<pid_t, const JobRoot*> roots_;
  std::map<pid_t, const JobRoot*> by_ancestor_;
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
