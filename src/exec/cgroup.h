// Cgroups for jobs: the only way to find every process of a job, wherever it has moved. They are
// used where cgroup v2 can be written. Elsewhere make() returns nothing and the runner finds trees
// by parentage.
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
  /// Makes a new cgroup. Nothing, and errno, if that is not possible or the path is taken.
  /// `name`: as name() tells it, where the caller knows.
  static std::unique_ptr<Cgroup> create(std::string path, std::string name = "");
  /// Opens an existing cgroup; nothing if there is none.
  static std::unique_ptr<Cgroup> open(std::string path);
  /// Removes it, unless processes are left in it.
  ~Cgroup();
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  const std::string& path() const { return path_; }
  /// Its name in /proc/PID/cgroup.
  const std::string& name();
  int directory_fd() const { return directory_.get(); }
  bool populated() const;
  std::vector<pid_t> processes() const;

  /// Kills every process in it.
  void kill();

 private:
  explicit Cgroup(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::string name_;  // set once it was asked for
  Fd directory_;
  Fd events_;
};

/// Makes the cgroups of jobs, below berth's own cgroup. None is used twice. Recent kernels go on
/// killing every process that is born into a cgroup that was killed once, and there is no way to
/// know whether a process that has died since killed or froze a cgroup. A cgroup that the kernel
/// has just made is new.
class CgroupFolder {
 public:
  /// Nothing if cgroup v2 is not mounted or not writable, or if no process can be born into a new
  /// cgroup. `proc` is /proc, or a test's own folder.
  static std::unique_ptr<CgroupFolder> make(const std::string& proc = "/proc");
  ~CgroupFolder();

  /// Nothing if the cgroup cannot be made.
  std::unique_ptr<Cgroup> create();
  /// Kills the processes that are left in it, and removes it.
  void retire(std::unique_ptr<Cgroup> cgroup);

 private:
  CgroupFolder(std::string path, Fd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  std::string name_;  // of the folder itself, in /proc/PID/cgroup; read once, from all the mounts
  Fd lock_;           // on the folder, which others may tidy up once it is unlocked
  std::vector<std::unique_ptr<Cgroup>> dying_;  // killed, not empty yet
  int made_ = 0;
};

/// The directory of this process's own cgroup in the v2 hierarchy; empty if there is none.
std::string own_cgroup_directory(const std::string& proc);

/// The name in /proc/PID/cgroup of the cgroup with this directory; empty if there is none.
std::string cgroup_name(const std::string& directory, const std::string& proc = "/proc");

}  // namespace berth
