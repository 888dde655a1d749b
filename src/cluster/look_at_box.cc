#include "cluster/look_at_box.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <memory>

#include "base/process_facts.h"
#include "base/small_files.h"
#include "base/text.h"
#include "cluster/cluster_state.h"
#include "cluster/conf_texts.h"

namespace berth {
namespace {

/// The interface of the default route.
std::string default_interface() {
  const std::string text = read_small_file("/proc/net/route").value_or("");
  std::string_view left = text;
  while (!left.empty()) {
    std::string_view line = take_until(left, '\n');
    const std::string_view name = take_until(line, '\t');
    if (take_until(line, '\t') == "00000000") {
      return std::string(name);
    }
  }
  return "";
}

/// Networks that containers and virtual machines have among themselves.
bool is_inner(std::string_view interface) {
  constexpr std::string_view kInner[] = {"docker", "br-", "virbr", "veth", "cni", "lxc", "podman"};
  return std::any_of(std::begin(kInner), std::end(kInner),
                     [&](std::string_view beginning) { return interface.starts_with(beginning); });
}

/// "/dev/nvidia" and the minor number, which is not always the number that the driver gives the
/// GPU.
std::string nvidia_file(const DeviceInfo& device, const Places& places) {
  const std::string information =
      read_small_file(places.at("/proc/driver/nvidia/gpus/" + device.pci_bus + "/information"))
          .value_or("");
  std::string_view left = information;
  while (!left.empty()) {
    std::string_view line = take_until(left, '\n');
    if (take_until(line, ':') == "Device Minor") {
      return fmt::format("/dev/nvidia{}", trim(line));
    }
  }
  return "/dev/nvidia" + device.spec.name;
}

Result<std::string> amd_file(const DeviceInfo& device, const Places& places) {
  for (const std::string& name :
       names_in(places.at("/sys/bus/pci/devices/" + device.pci_bus + "/drm"))) {
    if (name.starts_with("renderD")) {
      return "/dev/dri/" + name;
    }
  }
  return fail(ErrorCode::NotFound,
              fmt::format("GPU {} has no file in /dev/dri, so Slurm cannot hand it out: is the "
                          "driver amdgpu loaded?",
                          device.spec.name));
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

Result<GpuFile> gpu_file(const DeviceInfo& device, std::size_t number, const Places& places) {
  const std::string type = gpu_type(device.spec.model);
  if (device.family == DeviceFamily::Simulated) {
    return GpuFile{fmt::format("{}/nvidia{}", Places{}.simulated_gpus(), number), "simulated",
                   GpuVendor::Nvidia};
  }
  if (device.family == DeviceFamily::Amd) {
    Result<std::string> file = amd_file(device, places);
    if (!file) {
      return Failure(file.error());
    }
    return GpuFile{std::move(*file), type, GpuVendor::Amd};
  }
  if (!is_number(device.spec.name)) {
    return fail(ErrorCode::Usage,
                fmt::format("'{}' is not a whole GPU with a device file of its own, so it cannot "
                            "be a line of gres.conf: choose whole GPUs by --gpus 0,1",
                            device.spec.name));
  }
  return GpuFile{nvidia_file(device, places), type, GpuVendor::Nvidia};
}

}  // namespace

std::string short_host_name() {
  std::array<char, 256> name{};
  (void)::gethostname(name.data(), name.size() - 1);
  const std::string_view text = name.data();
  return std::string(text.substr(0, text.find('.')));
}

std::string own_address() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) {
    return "127.0.0.1";
  }
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owned(all, &::freeifaddrs);
  const std::string preferred = default_interface();
  std::string first;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    const std::string_view name = one->ifa_name;
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET || is_inner(name) ||
        (one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) {
      continue;
    }
    std::array<char, INET_ADDRSTRLEN> text{};
    const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    ::inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size());
    if (name == preferred) {
      return text.data();
    }
    if (first.empty()) {
      first = text.data();
    }
  }
  return first.empty() ? "127.0.0.1" : first;
}

Result<std::vector<GpuFile>> gpu_files(const std::vector<DeviceInfo>& devices,
                                       const Places& places) {
  std::vector<GpuFile> files;
  for (const DeviceInfo& device : devices) {
    Result<GpuFile> file = gpu_file(device, files.size(), places);
    if (!file) {
      return Failure(file.error());
    }
    files.push_back(std::move(*file));
  }
  return files;
}

Result<void> make_simulated_gpus(const std::vector<GpuFile>& gpus, const Places& places) {
  for (const GpuFile& gpu : gpus) {
    if (!gpu.file.starts_with(Places{}.simulated_gpus())) {
      continue;
    }
    std::error_code problem;
    std::filesystem::create_directories(places.simulated_gpus(), problem);
    const std::string path = places.at(gpu.file);
    if (::symlink("/dev/null", path.c_str()) != 0 && errno != EEXIST) {
      return fail_errno(fmt::format("cannot make {}", path), errno);
    }
  }
  return {};
}

Cgroups look_for_cgroups(const Places& places) {
  constexpr long kCgroup2 = 0x63677270;
  const std::string mounted = places.at("/sys/fs/cgroup");
  struct statfs system {};
  if (::statfs(mounted.c_str(), &system) == 0 && system.f_type == kCgroup2) {
    return Cgroups::V2;
  }
  // A hierarchy of version 1 that Slurm uses; the folder also exists where nothing is mounted.
  return ::access((mounted + "/freezer/tasks").c_str(), F_OK) == 0 ? Cgroups::V1 : Cgroups::None;
}

bool has_systemd(const Places& places) {
  return ::access(places.at("/run/systemd/system").c_str(), F_OK) == 0;
}

Result<void> ask_slurmd(Commands& commands, BoxFacts& facts) {
  const Result<std::string> hardware = run_or_fail(commands, {"slurmd", "-C"});
  if (!hardware) {
    return Failure(hardware.error());
  }
  const Result<std::string> version = run_or_fail(commands, {"slurmd", "-V"});
  if (!version) {
    return Failure(version.error());
  }
  read_hardware(*hardware, facts);
  facts.version = read_version(*version);
  return {};
}

Result<std::vector<std::string>> missing_packages(Commands& commands,
                                                  const std::vector<std::string>& packages) {
  std::vector<std::string> missing;
  for (const std::string& package : packages) {
    const Result<CommandOutput> status =
        commands.run({"dpkg-query", "-W", "-f", "${db:Status-Status}", package});
    if (!status) {
      return fail(status.error().code,
                  "berth cluster installs Debian's packages, and this machine has no dpkg: install "
                  "Slurm and munge by its own means, and see docs/cluster.md for the files");
    }
    if (!status->ok() || status->out != "installed") {
      missing.push_back(package);
    }
  }
  return missing;
}

Result<void> install_packages(Commands& commands, const std::vector<std::string>& packages) {
  constexpr auto kPatience = std::chrono::minutes(15);
  std::vector<std::string> words = {
      "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y",
      "-q",  "--no-install-recommends"};
  words.insert(words.end(), packages.begin(), packages.end());
  Result<std::string> installed = run_or_fail(commands, words, kPatience);
  if (!installed) {
    // Lists of packages that are old or absent.
    if (const Result<std::string> updated =
            run_or_fail(commands, {"apt-get", "update", "-q"}, kPatience);
        !updated) {
      return Failure(updated.error());
    }
    installed = run_or_fail(commands, words, kPatience);
  }
  if (!installed) {
    return fail(ErrorCode::Unavailable,
                fmt::format("could not install {}: {}", fmt::join(packages, " "),
                            installed.error().message));
  }
  return {};
}

std::vector<int> processes_of(std::string_view program, const Places& places) {
  std::vector<int> pids;
  const std::string proc = places.at("/proc");
  for (const std::string& name : names_in(proc)) {
    if (!is_number(name)) {
      continue;
    }
    const std::string comm = read_small_file(fmt::format("{}/{}/comm", proc, name)).value_or("");
    const int pid = std::atoi(name.c_str());
    const std::optional<ProcStat> stat = read_proc_stat(pid, proc);
    if (trim(comm) == program && stat && stat->alive()) {
      pids.push_back(pid);
    }
  }
  return pids;
}

}  // namespace berth
