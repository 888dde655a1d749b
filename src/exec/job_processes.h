// Finds a job's processes without cgroups. Descendants are found by parentage. berth, a child
// subreaper, adopts a process whose parents have died and knows it by the marks in its environment.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace berth {

struct JobProcess {
  pid_t pid = 0;
  pid_t parent = 0;
};

/// All live descendants of `root`, parents before their children, without `root` itself.
std::vector<JobProcess> descendants(pid_t root);

/// The children of this process's main thread, zombies included.
std::vector<JobProcess> own_children();

/// Whether every mark ("NAME=value") is in the environment that the process was started with.
bool has_marks(pid_t pid, const std::vector<std::string>& marks);

/// Every other live process of this user that has the mark. The environment of another user's
/// process does not count.
std::vector<JobProcess> marked(const std::string& mark);

/// Signals that process, never another one that got its number meanwhile. False when it is gone or
/// we may not signal it.
bool signal_process(const JobProcess& process, int signal);

/// Signals each descendant of `root` once, including those born meanwhile. The process group
/// `group` (0: none), which must still have its leader, is signalled as one. False when no process
/// was reached.
bool signal_tree(pid_t root, pid_t group, int signal);

/// The live processes that have this file open.
std::vector<pid_t> holders(const std::string& path);

}  // namespace berth
