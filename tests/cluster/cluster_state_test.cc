// The texts are recorded from Slurm 22.05.8.
#include "cluster/cluster_state.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

constexpr std::string_view kNodes =
    "NodeName=head Arch=x86_64 CoresPerSocket=1  CPUAlloc=1 CPUEfctv=2 CPUTot=2 CPULoad=1.89 "
    "AvailableFeatures=(null) ActiveFeatures=(null) Gres=gpu:a100:2,gpu:t4:1 "
    "GresDrain=N/A GresUsed=gpu:a100:2(IDX:0,1),gpu:t4:0(IDX:N/A) NodeAddr=10.77.0.1 "
    "NodeHostName=head Version=22.05.8 OS=Linux 6.18.44 #1 SMP PREEMPT_DYNAMIC @0  "
    "RealMemory=3000 AllocMem=100 FreeMem=19520 Sockets=2 Boards=1 State=MIXED ThreadsPerCore=1 "
    "TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A Partitions=gpu,low  "
    "BootTime=2026-11-18T16:41:46 AllocTRES= CapWatts=n/a\n"
    "NodeName=n2 Arch=x86_64 CPUAlloc=0 CPUTot=4 Gres=gpu:2 NodeAddr=10.77.0.2 Version=22.05.8 "
    "RealMemory=3000 AllocMem=0 State=IDLE+DRAIN+DYNAMIC_NORM ThreadsPerCore=1 Partitions=gpu  "
    "Reason=fan=broken, see ticket [root@2026-11-18T16:55:16]\n"
    "NodeName=n3 CPUAlloc=0 CPUTot=2 Gres=(null) NodeAddr=n3 State=DOWN*+DYNAMIC_NORM "
    "Reason=Not responding [slurm@2026-11-18T16:55:16]\n";

TEST(ClusterState, Nodes) {
  const std::vector<NodeState> nodes = parse_nodes(kNodes);
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0].name, "head");
  EXPECT_EQ(nodes[0].words(), "mixed");
  EXPECT_TRUE(nodes[0].well());
  EXPECT_EQ(nodes[0].gpus, 3);
  EXPECT_EQ(nodes[0].gpus_used, 2);
  EXPECT_EQ(nodes[0].cpus_used, 1);
  EXPECT_EQ(nodes[0].memory_used_mib, 100);
  EXPECT_EQ(nodes[0].partitions, (std::vector<std::string>{"gpu", "low"}));
  EXPECT_EQ(nodes[0].version, "22.05.8");
  EXPECT_EQ(nodes[1].words(), "drained");
  EXPECT_TRUE(nodes[1].dynamic());
  EXPECT_FALSE(nodes[1].well());
  EXPECT_EQ(nodes[1].reason, "fan=broken, see ticket [root@2026-11-18T16:55:16]");
  EXPECT_EQ(nodes[2].words(), "down, not responding");
  EXPECT_EQ(nodes[2].gres, "");
}

TEST(ClusterState, Gpus) {
  EXPECT_EQ(count_gpus("gpu:a100:2(S:0-1),gpu:t4:1,shard:8"), 3);
  EXPECT_EQ(count_gpus("gpu"), 1);
  EXPECT_EQ(count_gpus("gpu:4(IDX:0,2-3)"), 4);
  EXPECT_EQ(count_gpus("(null)"), 0);
}

TEST(ClusterState, Partitions) {
  const std::vector<PartitionState> partitions = parse_partitions(
      "PartitionName=gpu AllowGroups=ALL Default=YES MaxTime=UNLIMITED Nodes=head,n[2-3] State=UP "
      "TotalCPUs=6\n");
  ASSERT_EQ(partitions.size(), 1u);
  EXPECT_EQ(partitions[0].nodes, "head,n[2-3]");
  EXPECT_EQ(partitions[0].most_time, "unlimited");
  EXPECT_TRUE(partitions[0].is_default);
}

TEST(ClusterState, HardwareAndVersion) {
  BoxFacts facts;
  read_hardware(
      "NodeName=vm CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=16 ThreadsPerCore=2 "
      "RealMemory=24103\nUpTime=0-00:11:12\n",
      facts);
  EXPECT_EQ(facts.sockets, 2);
  EXPECT_EQ(facts.cores, 16);
  EXPECT_EQ(facts.threads, 2);
  EXPECT_EQ(facts.memory_mib, 24103);
  EXPECT_EQ(read_version("slurm-wlm 22.05.8\n"), "22.05.8");
  EXPECT_EQ(config_value("SlurmctldHost[0]        = head(10.77.0.1)\nX = 1\n", "SlurmctldHost[0]"),
            "head(10.77.0.1)");
}

}  // namespace
}  // namespace berth
