#include "gpu/mps/mps_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "base/fd.h"
#include "base/foreign_file.h"

namespace berth {
namespace {

constexpr std::string_view kRootStart = "berth-mps-";

/// BERTH_MPS_ROOT is for tests, which must not meet in /tmp.
std::string common_folder() {
  const char* chosen = std::getenv("BERTH_MPS_ROOT");
  return chosen != nullptr && *chosen == '/' ? chosen : "/tmp";
}

std::string root_name(uid_t user) { return fmt::format("{}{}", kRootStart, user); }

Fd open_common_folder() {
  return Fd(::open(common_folder().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

bool is_alone(const Fd& root, uid_t user) {
  struct stat info {};
  return ::fstat(root.get(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == user &&
         (info.st_mode & 077) == 0;
}

/// FNV-1a: folders are found again by it, so it must not change from one process to the next.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

/// /tmp/berth-mps-UID, if it is what it must be.
std::optional<Fd> open_root(uid_t user) {
  Result<Fd> root = open_folder_below(open_common_folder().get(), root_name(user));
  if (!root || !is_alone(*root, user)) {
    return std::nullopt;
  }
  return std::move(*root);
}

std::string name_of(const MpsPlace& place) {
  return place.folder.substr(place.folder.rfind('/') + 1);
}

}  // namespace

std::string mps_folder(uid_t user, std::string_view owner, std::string_view device) {
  return fmt::format("{}/{}/{:016x}", common_folder(), root_name(user),
                     hash_of(fmt::format("{}\n{}", owner, device)));
}

EnvironmentChanges mps_environment(const MpsPlace& place, const DeviceInfo& device,
                                   const Needs& needs) {
  const std::int64_t limit = needs.memory.count / mebibytes(1).count;
  EnvironmentChanges changes = {
      {"CUDA_MPS_PIPE_DIRECTORY", place.pipe()},
      {"CUDA_MPS_LOG_DIRECTORY", place.log()},
      {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
       needs.thread_percentage > 0 ? std::optional(std::to_string(needs.thread_percentage))
                                   : std::nullopt},
      // By the device's place among those that the job sees: it sees one.
      {"CUDA_MPS_PINNED_DEVICE_MEM_LIMIT",
       limit > 0 ? std::optional(fmt::format("0={}M", limit)) : std::nullopt}};
  // Clients see what the control daemon sees, and count that anew: the one device there is is 0.
  // Only UUIDs mean the same everywhere. A simulated device has no MPS server that could count.
  if (device.family == DeviceFamily::Trusted && !device.visible.starts_with("GPU-") &&
      !device.visible.starts_with("MIG-")) {
    changes.emplace_back("CUDA_VISIBLE_DEVICES", "0");
  }
  return changes;
}

std::vector<uid_t> mps_users() {
  if (const uid_t self = ::geteuid(); self != 0) {
    return open_root(self) ? std::vector{self} : std::vector<uid_t>{};
  }
  std::vector<uid_t> users;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(common_folder(), error)) {
    const std::string name = entry.path().filename().string();
    uid_t user = 0;
    const char* end = name.data() + name.size();
    if (name.starts_with(kRootStart) && name.size() > kRootStart.size() &&
        std::from_chars(name.data() + kRootStart.size(), end, user).ptr == end && open_root(user)) {
      users.push_back(user);
    }
  }
  return users;
}

Result<void> make_mps_root(uid_t user) {
  const Result<Fd> root = make_folder_below(open_common_folder().get(), root_name(user), user);
  if (!root || !is_alone(*root, user)) {
    return fail(ErrorCode::Io, fmt::format("{}/{} is in the way of MPS: it must be a folder of "
                                           "user {} that nobody else may enter",
                                           common_folder(), root_name(user), user));
  }
  return {};
}

bool place_exists(const MpsPlace& place) {
  const std::optional<Fd> root = open_root(place.user);
  return root && open_folder_below(root->get(), name_of(place));
}

void watch_pipe(const MpsPlace& place, int inotify) {
  const std::optional<Fd> root = open_root(place.user);
  const Result<Fd> pipe = root ? open_folder_below(root->get(), name_of(place) + "/pipe")
                               : fail(ErrorCode::NotFound, "no place");
  if (pipe) {
    (void)::inotify_add_watch(inotify, fmt::format("/proc/self/fd/{}", pipe->get()).c_str(),
                              IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
  }
}

}  // namespace berth
