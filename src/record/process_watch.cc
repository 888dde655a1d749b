#include "record/process_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/process_facts.h"
#include "base/small_files.h"

namespace berth {
namespace {

/// The program and its script without their folders, and the arguments as far as there is room.
std::string short_command(const std::string& cmdline) {
  constexpr std::size_t kLongest = 60;
  std::string text;
  std::size_t at = 0;
  for (int word = 0; at < cmdline.size() && text.size() < kLongest; ++word) {
    const std::size_t end = std::min(cmdline.find('\0', at), cmdline.size());
    std::string part = cmdline.substr(at, end - at);
    if (word < 2 && !part.starts_with('-')) {
      part = part.substr(part.rfind('/') + 1);
    }
    text += (text.empty() ? "" : " ") + part;
    at = end + 1;
  }
  return text.size() > kLongest ? text.substr(0, kLongest) + "…" : text;
}

}  // namespace

ProcessWatch::Process ProcessWatch::look(pid_t pid) const {
  constexpr std::size_t kMostRead = 4096;
  constexpr int kPidBits = 22;
  Process process;
  const std::optional<ProcStat> stat = read_proc_stat(pid, proc_);
  process.key = (stat ? stat->start << kPidBits : 0) + static_cast<std::uint64_t>(pid);
  const std::optional<std::string> words =
      read_small_file(fmt::format("{}/{}/cmdline", proc_, pid), kMostRead);
  const std::string command = words ? short_command(*words) : "";
  process.name =
      command.empty() ? fmt::format("pid {}", pid) : fmt::format("{} (pid {})", command, pid);
  return process;
}

void ProcessWatch::sampled(const std::vector<DeviceSample>& samples, Time at) {
  std::map<std::pair<std::size_t, pid_t>, Process> now;
  for (std::size_t device = 0; device < samples.size(); ++device) {
    for (const ProcessUse& use : samples[device].processes) {
      const std::pair place{device, use.pid};
      if (auto known = present_.extract(place); !known.empty()) {
        now.insert(std::move(known));
        continue;
      }
      const Process process = look(use.pid);
      recording_.enter(process.key, process.name, device, at);
      now[place] = process;
    }
  }
  for (const auto& [place, process] : present_) {
    recording_.leave(process.key, place.first, at);
  }
  present_ = std::move(now);
}

}  // namespace berth
