#include "cluster/conf_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "base/text.h"

namespace berth {
namespace {

constexpr std::string_view kNodeGpusComment = "# The GPUs of";

/// Slurm drains a node that shows less memory than it was said to have, and what the kernel keeps
/// for itself changes with its version.
std::int64_t told_memory(std::int64_t memory_mib) { return memory_mib - memory_mib / 32; }

std::string_view process_section(const BoxFacts& head) {
  if (head.cgroups == Cgroups::V2) {
    return "# cgroups confine each job to its cores, memory and GPUs (cgroup.conf).\n"
           "ProctrackType=proctrack/cgroup\n"
           "TaskPlugin=task/cgroup,task/affinity\n";
  }
  return "# Without cgroups v2 jobs are trusted to keep to their GPUs: Slurm sets\n"
         "# CUDA_VISIBLE_DEVICES and does not enforce it.\n"
         "ProctrackType=proctrack/linuxproc\n"
         "TaskPlugin=task/affinity\n";
}

bool is_line_of(std::string_view line, std::string_view node) {
  return line.starts_with(fmt::format("NodeName={} ", node)) ||
         line == fmt::format("{} {}:", kNodeGpusComment, node);
}

}  // namespace

Result<void> check_node_name(std::string_view name) {
  const bool fine = !name.empty() && name.size() <= 63 && name[0] != '-' &&
                    std::all_of(name.begin(), name.end(), [](unsigned char c) {
                      return std::isalnum(c) != 0 || c == '-' || c == '_';
                    });
  if (!fine) {
    return fail(ErrorCode::Usage,
                fmt::format("'{}' cannot be a name in Slurm: use up to 63 letters, digits, '-' "
                            "and '_'",
                            name));
  }
  return {};
}

std::string gpu_type(std::string_view model) {
  std::string type;
  while (!model.empty()) {
    std::string word;
    for (const char c : take_until(model, ' ')) {
      const auto byte = static_cast<unsigned char>(c);
      if (std::isalnum(byte) != 0 || c == '-' || c == '_') {
        word += static_cast<char>(std::tolower(byte));
      }
    }
    constexpr std::string_view kMakers[] = {"nvidia", "amd",    "geforce",
                                            "tesla",  "radeon", "instinct"};
    if (!word.empty() &&
        std::find(std::begin(kMakers), std::end(kMakers), word) == std::end(kMakers)) {
      type += (type.empty() ? "" : "_") + word;
    }
  }
  return type;
}

std::string gres_of(const std::vector<GpuFile>& gpus) {
  std::vector<std::string> order;
  std::map<std::string, int> counts;
  for (const GpuFile& gpu : gpus) {
    if (counts[gpu.type]++ == 0) {
      order.push_back(gpu.type);
    }
  }
  std::string text;
  for (const std::string& type : order) {
    text += fmt::format("{}gpu:{}{}{}", text.empty() ? "" : ",", type, type.empty() ? "" : ":",
                        counts[type]);
  }
  return text;
}

std::string slurm_conf(std::string_view cluster, const BoxFacts& head) {
  const std::string gres = gres_of(head.gpus);
  return fmt::format(
      "# Slurm's configuration, for the whole cluster. It was written by `berth cluster init`\n"
      "# from what this box has, and it is yours: nothing of berth's reads it or is needed to run\n"
      "# it. After a change: scontrol reconfigure. What the words mean: man slurm.conf.\n\n"
      "ClusterName={0}\n"
      "# The head: its name, and the address by which the other boxes reach it.\n"
      "SlurmctldHost={1}({2})\n"
      "# The other boxes have no copy of this file: their slurmd gets it from the head.\n"
      "SlurmctldParameters=enable_configless\n"
      "# They come and go without a line here (slurmd -Z), so room is kept for them.\n"
      "MaxNodeCount=256\n"
      "TreeWidth=65533\n\n"
      "# Who is who: munge, with the same /etc/munge/munge.key on every box.\n"
      "AuthType=auth/munge\n"
      "CredType=cred/munge\n"
      "SlurmUser=slurm\n\n"
      "# Files, where Debian's packages have them.\n"
      "StateSaveLocation=/var/lib/slurm/slurmctld\n"
      "SlurmdSpoolDir=/var/lib/slurm/slurmd\n"
      "SlurmctldPidFile=/run/slurmctld.pid\n"
      "SlurmdPidFile=/run/slurmd.pid\n"
      "SlurmctldLogFile=/var/log/slurm/slurmctld.log\n"
      "SlurmdLogFile=/var/log/slurm/slurmd.log\n"
      "MailProg=/bin/true\n\n"
      "{3}\n"
      "# A job gets what it asks for: cores, memory and GPUs. One that does not say gets a core,\n"
      "# and 2000 MiB of memory for each core.\n"
      "SelectType=select/cons_tres\n"
      "SelectTypeParameters=CR_Core_Memory\n"
      "DefMemPerCPU=2000\n"
      "GresTypes=gpu\n"
      "MpiDefault=none\n\n"
      "# A box that was away and is well again takes jobs at once.\n"
      "ReturnToService=2\n\n"
      "# This box. Those that joined are in `scontrol show node`.\n"
      "NodeName={1} NodeAddr={2} Sockets={4} CoresPerSocket={5} ThreadsPerCore={6} "
      "RealMemory={7}{8}{9} State=UNKNOWN\n\n"
      "# One queue for all boxes.\n"
      "PartitionName=gpu Nodes=ALL Default=YES DefaultTime=1-00:00:00 MaxTime=INFINITE State=UP\n",
      cluster, head.name, head.address, process_section(head), head.sockets, head.cores,
      head.threads, told_memory(head.memory_mib), gres.empty() ? "" : " Gres=", gres);
}

std::string cgroup_conf(const BoxFacts& head) {
  std::string text =
      "# How Slurm uses cgroups, for the whole cluster (man cgroup.conf).\n"
      "CgroupPlugin=autodetect\n";
  if (head.cgroups != Cgroups::V2) {
    return text + "# slurm.conf does not confine jobs: this box has no cgroups v2.\n";
  }
  if (!head.systemd) {
    text +=
        "# There is no systemd here to make the group in which slurmd works.\nIgnoreSystemd=yes\n";
  }
  return text +
         "# A job uses the cores, the memory and the GPUs that it was given, and no others.\n"
         "ConstrainCores=yes\n"
         "ConstrainRAMSpace=yes\n"
         "ConstrainDevices=yes\n";
}

std::string empty_gres_conf() {
  return "# The GPUs of each box, for the whole cluster (man gres.conf). `berth cluster join` "
         "adds\n"
         "# the lines of a box here. After a change: scontrol reconfigure.\n"
         "# Debian's Slurm is built without NVML, so it cannot find GPUs by itself.\n"
         "AutoDetect=off\n";
}

std::string without_node(std::string_view text, std::string_view node) {
  std::string kept;
  while (!text.empty()) {
    const std::string_view line = take_until(text, '\n');
    if (!is_line_of(line, node)) {
      kept += fmt::format("{}\n", line);
    }
  }
  return kept;
}

std::string with_node_gpus(std::string_view text, std::string_view node,
                           const std::vector<GpuFile>& gpus) {
  std::string kept = without_node(text, node);
  if (gpus.empty()) {
    return kept;
  }
  kept += fmt::format("{} {}:\n", kNodeGpusComment, node);
  for (const GpuFile& gpu : gpus) {
    kept += fmt::format("NodeName={} Name=gpu{}{} File={} Flags={}\n", node,
                        gpu.type.empty() ? "" : " Type=", gpu.type, gpu.file,
                        gpu.vendor == GpuVendor::Amd ? "amd_gpu_env" : "nvidia_gpu_env");
  }
  return kept;
}

std::vector<std::string> slurmd_words(std::string_view head, const std::vector<GpuFile>& gpus) {
  std::vector<std::string> words = {"--conf-server", std::string(head), "-Z"};
  if (!gpus.empty()) {
    words.push_back("--conf");
    words.push_back("Gres=" + gres_of(gpus));
  }
  return words;
}

std::string with_slurmd_options(std::string_view text, const std::vector<std::string>& words) {
  std::string kept;
  while (!text.empty()) {
    const std::string_view line = take_until(text, '\n');
    if (!trim(line).starts_with("SLURMD_OPTIONS=")) {
      kept += fmt::format("{}\n", line);
    }
  }
  if (!words.empty()) {
    kept += fmt::format("SLURMD_OPTIONS=\"{}\"\n", fmt::join(words, " "));
  }
  return kept;
}

std::string slurmd_options_in(std::string_view text) {
  std::string options;
  while (!text.empty()) {
    const std::string_view line = trim(take_until(text, '\n'));
    if (line.starts_with("SLURMD_OPTIONS=")) {
      options = trim(line.substr(line.find('=') + 1), " \t\"'");
    }
  }
  return options;
}

std::string slurmd_drop_in() {
  return "# This box has no slurm.conf of its own: slurmd gets it from the head, as\n"
         "# /etc/default/slurmd says. Debian's unit would not start without the file.\n"
         "[Unit]\n"
         "ConditionPathExists=\n";
}

}  // namespace berth
