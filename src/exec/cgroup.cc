#include "exec/cgroup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

#include "base/small_files.h"
#include "exec/spawn.h"

namespace berth {
namespace {

/// mountinfo writes blanks in paths as octal escapes.
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain +=
          static_cast<char>(std::strtol(std::string(text.substr(i + 1, 3)).c_str(), nullptr, 8));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

struct Mount {
  std::string root;   // the cgroup that it shows; "/" outside containers
  std::string point;  // empty: cgroup v2 is not mounted
};

/// On hybrid machines the v2 hierarchy is not at the usual place, so mountinfo is asked:
/// ID PARENT MAJOR:MINOR ROOT MOUNTPOINT OPTIONS [optional…] - TYPE SOURCE OPTIONS
Mount find_mount(const std::string& proc) {
  std::ifstream mounts(proc + "/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    if (line.find(" - cgroup2 ") != std::string::npos) {
      std::istringstream words(line);
      std::string skipped;
      Mount mount;
      words >> skipped >> skipped >> skipped >> mount.root >> mount.point;
      mount.point = unescape(mount.point);
      return mount;
    }
  }
  return {};
}

/// A folder that is kept locked by the berth that uses it. A lock, not a number, says who lives:
/// a berth of another container may share this place, and its processes have other numbers here.
Fd lock_folder(const std::string& folder) {
  Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0 ? std::move(fd) : Fd();
}

/// Folders of runs that were killed before they could tidy up.
void remove_abandoned(const std::string& parent) {
  for (const std::string& name : names_in(parent)) {
    const std::string folder = fmt::format("{}/{}", parent, name);
    if (name.starts_with("berth-") && lock_folder(folder)) {
      for (const std::string& leaf : names_in(folder)) {
        ::rmdir(fmt::format("{}/{}", folder, leaf).c_str());
      }
      ::rmdir(folder.c_str());
    }
  }
}

}  // namespace

std::string own_cgroup_directory(const std::string& proc) {
  const auto [root, mount_point] = find_mount(proc);
  if (mount_point.empty()) {
    return "";
  }
  std::ifstream own(proc + "/self/cgroup");
  for (std::string line; std::getline(own, line);) {
    if (!line.starts_with("0::")) {
      continue;
    }
    std::string path = line.substr(3);
    // In a container the mount shows only a part of the tree.
    if (root != "/" && path.starts_with(root)) {
      path = path.substr(root.size());
    }
    return mount_point + (path == "/" ? "" : path);
  }
  return "";
}

std::string cgroup_name(const std::string& directory, const std::string& proc) {
  const auto [root, mount_point] = find_mount(proc);
  if (mount_point.empty() || !directory.starts_with(mount_point + "/")) {
    return "";
  }
  return (root == "/" ? "" : root) + directory.substr(mount_point.size());
}

std::unique_ptr<Cgroup> Cgroup::create(std::string path, std::string name) {
  std::unique_ptr<Cgroup> made = ::mkdir(path.c_str(), 0755) == 0 ? open(std::move(path)) : nullptr;
  if (made != nullptr) {
    made->name_ = std::move(name);
  }
  return made;
}

std::unique_ptr<Cgroup> Cgroup::open(std::string path) {
  std::unique_ptr<Cgroup> cgroup(new Cgroup(std::move(path)));
  cgroup->directory_ = Fd(::open(cgroup->path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  cgroup->events_ = Fd(::open((cgroup->path_ + "/cgroup.events").c_str(), O_RDONLY | O_CLOEXEC));
  return cgroup->directory_ && cgroup->events_ ? std::move(cgroup) : nullptr;
}

Cgroup::~Cgroup() { ::rmdir(path_.c_str()); }

const std::string& Cgroup::name() {
  if (name_.empty()) {
    name_ = cgroup_name(path_);
  }
  return name_;
}

bool Cgroup::populated() const {
  char text[128];
  const ssize_t size = ::pread(events_.get(), text, sizeof text, 0);
  return size > 0 && std::string_view(text, static_cast<std::size_t>(size)).find("populated 1") !=
                         std::string_view::npos;
}

std::vector<pid_t> Cgroup::processes() const {
  std::vector<pid_t> pids;
  std::ifstream file(path_ + "/cgroup.procs");
  for (pid_t pid = 0; file >> pid;) {
    pids.push_back(pid);
  }
  return pids;
}

void Cgroup::kill() {
  const Fd file(::open((path_ + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC));
  if (file && ::write(file.get(), "1", 1) == 1) {
    return;
  }
  // Before Linux 5.14 there is no cgroup.kill.
  for (const pid_t pid : processes()) {
    ::kill(pid, SIGKILL);
  }
}

std::unique_ptr<CgroupFolder> CgroupFolder::make(const std::string& proc) {
  const std::string own = own_cgroup_directory(proc);
  if (own.empty() || ::access(own.c_str(), W_OK) != 0) {
    return nullptr;
  }
  remove_abandoned(own);
  std::unique_ptr<CgroupFolder> made;
  // Somebody may live in a folder of this name already, or remove it before it is locked.
  constexpr int kTries = 100;
  for (int i = 0; i < kTries && made == nullptr; ++i) {
    const std::string folder = fmt::format("{}/berth-{}-{}", own, ::getpid(), i);
    if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
      return nullptr;
    }
    if (Fd lock = lock_folder(folder)) {
      made.reset(new CgroupFolder(folder, std::move(lock)));
    }
  }
  if (made == nullptr) {
    return nullptr;
  }
  // Where berth's own cgroup was killed once, nothing can be born from it into another.
  const std::unique_ptr<Cgroup> first = made->create();
  return first != nullptr && can_be_born_in(first->directory_fd()) ? std::move(made) : nullptr;
}

CgroupFolder::~CgroupFolder() {
  dying_.clear();
  ::rmdir(path_.c_str());
}

std::unique_ptr<Cgroup> CgroupFolder::create() {
  if (name_.empty()) {
    name_ = cgroup_name(path_);
  }
  std::unique_ptr<Cgroup> cgroup;
  do {
    const std::string last = fmt::format("/{}", made_++);
    cgroup = Cgroup::create(path_ + last, name_.empty() ? "" : name_ + last);
  } while (cgroup == nullptr && errno == EEXIST);
  return cgroup;
}

void CgroupFolder::retire(std::unique_ptr<Cgroup> cgroup) {
  std::erase_if(dying_, [](const auto& dying) { return !dying->populated(); });
  if (cgroup->populated()) {
    cgroup->kill();
    dying_.push_back(std::move(cgroup));
  }
}

}  // namespace berth
