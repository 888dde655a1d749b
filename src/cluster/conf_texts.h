// The texts of Slurm's configuration files, made from facts. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/box_facts.h"

namespace berth {

/// A name that a cluster or a node may have: letters, digits, '-' and '_'.
Result<void> check_node_name(std::string_view name);

/// "NVIDIA A100-SXM4-40GB" as a word for --gpus=TYPE:N: "a100-sxm4-40gb".
std::string gpu_type(std::string_view model);

/// "gpu:a100:2,gpu:t4:1"; empty without GPUs.
std::string gres_of(const std::vector<GpuFile>& gpus);

/// The whole slurm.conf of a cluster whose head is this box.
std::string slurm_conf(std::string_view cluster, const BoxFacts& head);
/// The whole cgroup.conf of the cluster.
std::string cgroup_conf(const BoxFacts& head);
/// gres.conf with no node in it.
std::string empty_gres_conf();

/// `text` of gres.conf with these GPUs for `node`, in the place of those that it had there.
std::string with_node_gpus(std::string_view text, std::string_view node,
                           const std::vector<GpuFile>& gpus);
/// The same without any line for `node`.
std::string without_node(std::string_view text, std::string_view node);

/// The words after `slurmd` on a box that gets its configuration from `head` ("host:port").
std::vector<std::string> slurmd_words(std::string_view head, const std::vector<GpuFile>& gpus);
/// `text` of /etc/default/slurmd with these options, in the place of those that it had.
std::string with_slurmd_options(std::string_view text, const std::vector<std::string>& words);
/// The options that the file sets; empty when it sets none.
std::string slurmd_options_in(std::string_view text);
/// Lets systemd start slurmd on a box without a slurm.conf of its own.
std::string slurmd_drop_in();

}  // namespace berth
