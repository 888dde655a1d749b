#include "exec/job_processes.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "base/fd.h"
#include "base/process_facts.h"
#include "base/small_files.h"
#include "exec/process_identity.h"

namespace berth {
namespace {

std::multimap<pid_t, pid_t> children_by_parent() {
  std::multimap<pid_t, pid_t> children;
  for (const std::string& name : names_in("/proc")) {
    const pid_t pid = std::atoi(name.c_str());
    if (const auto stat = pid > 0 ? read_proc_stat(pid) : std::nullopt) {
      children.emplace(stat->parent, pid);
    }
  }
  return children;
}

}  // namespace

std::vector<JobProcess> descendants(pid_t root) {
  const std::multimap<pid_t, pid_t> children = children_by_parent();
  std::vector<JobProcess> found;
  std::vector<pid_t> parents = {root};
  while (!parents.empty()) {
    const pid_t parent = parents.back();
    parents.pop_back();
    const auto [first, last] = children.equal_range(parent);
    for (auto child = first; child != last; ++child) {
      found.push_back({child->second, parent});
      parents.push_back(child->second);
    }
  }
  return found;
}

std::vector<JobProcess> own_children() {
  const pid_t self = ::getpid();
  std::vector<JobProcess> found;
  std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", self));
  if (!file) {
    // A kernel without CONFIG_PROC_CHILDREN: look at everyone.
    const std::multimap<pid_t, pid_t> children = children_by_parent();
    const auto [first, last] = children.equal_range(self);
    for (auto child = first; child != last; ++child) {
      found.push_back({child->second, self});
    }
    return found;
  }
  for (pid_t pid = 0; file >> pid;) {
    found.push_back({pid, self});
  }
  return found;
}

bool has_marks(pid_t pid, const std::vector<std::string>& marks) {
  std::ifstream file(fmt::format("/proc/{}/environ", pid));
  std::size_t seen = 0;
  for (std::string entry; std::getline(file, entry, '\0');) {
    seen += static_cast<std::size_t>(std::count(marks.begin(), marks.end(), entry));
  }
  return seen >= marks.size();
}

std::vector<JobProcess> marked(const std::string& mark) {
  std::vector<JobProcess> found;
  for (const auto& [parent, pid] : children_by_parent()) {
    if (pid != ::getpid() && has_marks(pid, {mark}) && user_of_process(pid) == ::getuid()) {
      found.push_back({pid, parent});
    }
  }
  return found;
}

bool signal_process(const JobProcess& process, int signal) {
  // The descriptor pins the process; only then is it certain whose number this is.
  const Fd handle = open_pid(process.pid);
  const std::optional<ProcStat> stat = read_proc_stat(process.pid);
  return handle && stat && stat->parent == process.parent &&
         signal_process(handle.get(), signal);
}

bool signal_tree(pid_t root, pid_t group, int signal) {
  bool reached = false;
  if (group > 0) {
    // The group does not exist yet while its leader is on its way to exec.
    reached = ::kill(-group, signal) == 0 || ::kill(group, signal) == 0;
  }
  // A process that forks while the tree is walked has a child that this round missed.
  constexpr int kRounds = 16;
  std::set<pid_t> seen;
  for (int round = 0; round < kRounds; ++round) {
    bool found_more = false;
    for (const JobProcess& process : descendants(root)) {
      if (!seen.insert(process.pid).second) {
        continue;
      }
      // The group has had the signal already; TERM twice would look like two requests.
      if (process.pid == group || (group > 0 && ::getpgid(process.pid) == group)) {
        continue;
      }
      found_more = true;
      reached = signal_process(process, signal) || reached;
    }
    if (!found_more) {
      break;
    }
  }
  return reached;
}

std::vector<pid_t> holders(const std::string& path) {
  std::vector<pid_t> found;
  struct stat wanted {};
  if (::stat(path.c_str(), &wanted) != 0) {
    return found;
  }
  for (const std::string& process : names_in("/proc")) {
    const pid_t pid = std::atoi(process.c_str());
    if (pid <= 0) {
      continue;
    }
    const std::string descriptors = fmt::format("/proc/{}/fd", pid);
    for (const std::string& name : names_in(descriptors)) {
      struct stat open {};
      if (::stat(fmt::format("{}/{}", descriptors, name).c_str(), &open) == 0 &&
          open.st_dev == wanted.st_dev && open.st_ino == wanted.st_ino) {
        found.push_back(pid);
        break;
      }
    }
  }
  return found;
}

}  // namespace berth
