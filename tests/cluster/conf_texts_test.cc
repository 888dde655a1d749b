#include "cluster/conf_texts.h"

#include <gtest/gtest.h>

#include "cluster/cluster_state.h"

namespace berth {
namespace {

BoxFacts head_with(std::vector<GpuFile> gpus) {
  BoxFacts facts;
  facts.name = "head";
  facts.address = "192.168.1.10";
  facts.sockets = 2;
  facts.cores = 16;
  facts.threads = 2;
  facts.memory_mib = 128000;
  facts.gpus = std::move(gpus);
  facts.cgroups = Cgroups::V2;
  facts.systemd = true;
  facts.version = "22.05.8";
  return facts;
}

const std::vector<GpuFile> kMixed = {{"/dev/nvidia0", "a100", GpuVendor::Nvidia},
                                     {"/dev/nvidia2", "a100", GpuVendor::Nvidia},
                                     {"/dev/dri/renderD128", "mi210", GpuVendor::Amd}};

TEST(ConfTexts, SlurmConfSaysWhatTheBoxHas) {
  const std::string text = slurm_conf("lab", head_with(kMixed));
  EXPECT_EQ(conf_value(text, "ClusterName"), "lab");
  EXPECT_EQ(conf_value(text, "SlurmctldHost"), "head(192.168.1.10)");
  EXPECT_EQ(conf_value(text, "ProctrackType"), "proctrack/cgroup");
  EXPECT_EQ(conf_value(text, "SlurmctldParameters"), "enable_configless");
  EXPECT_NE(text.find("NodeName=head NodeAddr=192.168.1.10 Sockets=2 CoresPerSocket=16 "
                      "ThreadsPerCore=2 RealMemory=124000 Gres=gpu:a100:2,gpu:mi210:1 "
                      "State=UNKNOWN\n"),
            text.npos)
      << text;
}

TEST(ConfTexts, WithoutCgroupsJobsAreNotConfined) {
  BoxFacts facts = head_with({});
  facts.cgroups = Cgroups::V1;
  EXPECT_EQ(conf_value(slurm_conf("lab", facts), "ProctrackType"), "proctrack/linuxproc");
  EXPECT_EQ(cgroup_conf(facts).find("Constrain"), std::string::npos);
  EXPECT_EQ(slurm_conf("lab", facts).find("Gres="), std::string::npos);
}

TEST(ConfTexts, CgroupConf) {
  BoxFacts facts = head_with({});
  EXPECT_EQ(conf_value(cgroup_conf(facts), "ConstrainDevices"), "yes");
  EXPECT_EQ(conf_value(cgroup_conf(facts), "IgnoreSystemd"), "");
  facts.systemd = false;
  EXPECT_EQ(conf_value(cgroup_conf(facts), "IgnoreSystemd"), "yes");
}

TEST(ConfTexts, GresConfHasTheLinesOfEachBoxOnce) {
  const std::string one = with_node_gpus("AutoDetect=off\n", "n2", kMixed);
  EXPECT_EQ(one,
            "AutoDetect=off\n"
            "# The GPUs of n2:\n"
            "NodeName=n2 Name=gpu Type=a100 File=/dev/nvidia0 Flags=nvidia_gpu_env\n"
            "NodeName=n2 Name=gpu Type=a100 File=/dev/nvidia2 Flags=nvidia_gpu_env\n"
            "NodeName=n2 Name=gpu Type=mi210 File=/dev/dri/renderD128 Flags=amd_gpu_env\n");
  const std::string two = with_node_gpus(one, "n20", {{"/dev/nvidia0", "", GpuVendor::Nvidia}});
  EXPECT_EQ(two, one +
                     "# The GPUs of n20:\n"
                     "NodeName=n20 Name=gpu File=/dev/nvidia0 Flags=nvidia_gpu_env\n");
  EXPECT_EQ(with_node_gpus(one, "n2", kMixed), one);
  EXPECT_EQ(without_node(two, "n20"), one);
  EXPECT_EQ(without_node(one, "n2"), "AutoDetect=off\n");
}

TEST(ConfTexts, TypesAreWordsOfTheModel) {
  EXPECT_EQ(gpu_type("NVIDIA A100-SXM4-40GB"), "a100-sxm4-40gb");
  EXPECT_EQ(gpu_type("NVIDIA GeForce RTX 3090"), "rtx_3090");
  EXPECT_EQ(gpu_type("AMD Instinct MI210"), "mi210");
  EXPECT_EQ(gpu_type("Odd (model),=x"), "odd_modelx");
  EXPECT_EQ(gpu_type(""), "");
}

TEST(ConfTexts, OptionsOfSlurmd) {
  const std::vector<std::string> words = slurmd_words("head:6817", kMixed);
  const std::string text = with_slurmd_options("# a comment\n#SLURMD_OPTIONS=\"\"\n", words);
  EXPECT_EQ(text,
            "# a comment\n#SLURMD_OPTIONS=\"\"\n"
            "SLURMD_OPTIONS=\"--conf-server head:6817 -Z --conf Gres=gpu:a100:2,gpu:mi210:1\"\n");
  EXPECT_EQ(slurmd_options_in(text),
            "--conf-server head:6817 -Z --conf Gres=gpu:a100:2,gpu:mi210:1");
  EXPECT_EQ(with_slurmd_options(text, {}), "# a comment\n#SLURMD_OPTIONS=\"\"\n");
  EXPECT_EQ(slurmd_options_in("#SLURMD_OPTIONS=\"-v\"\n"), "");
}

TEST(ConfTexts, NamesOfNodes) {
  for (const char* name : {"head", "gpu-01", "A_b"}) {
    EXPECT_TRUE(check_node_name(name)) << name;
  }
  for (const char* name : {"", "-x", "a b", "a\nNodeName=b", "a.b", "n[1-2]"}) {
    EXPECT_FALSE(check_node_name(name)) << name;
  }
}

}  // namespace
}  // namespace berth
