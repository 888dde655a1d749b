// Cgroups for jobs: the one way to find every process of a job, wherever it has moved. Used where
// cgroup v2 can be written; elsewhere make() returns nothing and the runner finds trees by
// parentage.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"

namespace berth {

/// The cgroup of one running job.
class Cgroup {
 public:
  /// A new one; nothing, and errno, where that is not possible or the path is taken.
  static std::unique_ptr<Cgroup> create(std::string path);
  /// One that is there already; nothing where it is not.
  static std::unique_ptr<Cgroup> open(std::string path);
  /// Removes it, unless processes are left in it.
  ~Cgroup();
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  const std::string& path() const { return path_; }
  /// What /proc/PID/cgroup calls it.
  const std::string& name();
  int directory_fd() const { return directory_.get(); }
  bool populated() const;
  std::vector<pid_t> processes() const;

  /// Kills every process in it.
  void kill();

 private:
  explicit Cgroup(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::string name_;  // once it was asked for
  Fd directory_;
  Fd events_;
};

/// Makes the cgroups of jobs, below the one that berth itself is in. None is used twice: recent
/// kernels go on killing whatever is born into a cgroup that was killed once, and who has killed or
/// frozen one, and died since, nobody can know. A cgroup that the kernel has just made is new.
class CgroupFolder {
 public:
  /// Nothing where cgroup v2 is not mounted, not writable, or nothing can be born into a new
  /// cgroup. `proc` is /proc, or a test's own.
  static std::unique_ptr<CgroupFolder> make(const std::string& proc = "/proc");
  ~CgroupFolder();

  /// Nothing where it cannot be made.
  std::unique_ptr<Cgroup> create();
  /// Kills what is left in it, and removes it.
  void retire(std::unique_ptr<Cgroup> cgroup);

 private:
  CgroupFolder(std::string path, Fd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  Fd lock_;  // on the folder: others may tidy it up when nobody has it
  std::vector<std::unique_ptr<Cgroup>> dying_;  // killed, not empty yet
  int made_ = 0;
};

/// The directory of this process's own cgroup in the v2 hierarchy, empty where there is none.
std::string own_cgroup_directory(const std::string& proc);

/// What /proc/PID/cgroup calls the cgroup with this directory; empty where there is none.
std::string cgroup_name(const std::string& directory, const std::string& proc = "/proc");

}  // namespace berth
