// Cgroups for jobs: the one way to find every process of a job, wherever it has moved. Used where
// cgroup v2 can be written; elsewhere make() returns nothing and the runner finds trees by
// parentage.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "exec/spawn.h"

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
  /// Whether it is as good as new: nobody in it, not frozen, and what is born into it lives. Asks
  /// the kernel: whoever has killed it, and whoever died since, it alone knows.
  bool usable(const SpawnStack& stack) const;
  std::vector<pid_t> processes() const;

  /// Kills every process in it.
  void kill();

 private:
  explicit Cgroup(std::string path) : path_(std::move(path)) {}
  bool has_event(std::string_view line) const;

  std::string path_;
  std::string name_;  // once it was asked for
  Fd directory_;
  Fd events_;
};

/// Makes cgroups below the one berth itself is in, and uses empty ones again: making one costs more
/// than trying whether an old one is as good as new.
class CgroupPool {
 public:
  /// Nothing where cgroup v2 is not mounted or not writable. `proc` is /proc, or a test's own.
  static std::unique_ptr<CgroupPool> make(const std::string& proc = "/proc");
  ~CgroupPool();

  /// Always a usable one; nothing where none can be had.
  std::unique_ptr<Cgroup> take();
  /// Kills what is left in it.
  void give_back(std::unique_ptr<Cgroup> cgroup);

 private:
  CgroupPool(std::string folder, Fd lock) : folder_(std::move(folder)), lock_(std::move(lock)) {}

  std::string folder_;
  Fd lock_;  // on the folder: others may tidy it up when nobody has it
  std::vector<std::unique_ptr<Cgroup>> free_;
  std::vector<std::unique_ptr<Cgroup>> dying_;  // killed, not empty yet
  int made_ = 0;
  SpawnStack stack_;  // for trying them
};

/// The directory of this process's own cgroup in the v2 hierarchy, empty where there is none.
std::string own_cgroup_directory(const std::string& proc);

/// What /proc/PID/cgroup calls the cgroup with this directory; empty where there is none.
std::string cgroup_name(const std::string& directory, const std::string& proc = "/proc");

}  // namespace berth
