// What Slurm's commands print, as recorded from Slurm 22.05.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "base/read_file.h"
#include "slurm/cluster_config.h"
#include "slurm/cluster_facts.h"
#include "slurm/sacct_table.h"
#include "slurm/slurm_words.h"
#include "slurm/squeue_table.h"
#include "slurm/wrapper.h"

namespace berth {
namespace {

std::string recorded(const std::string& name) {
  const Result<std::string> text =
      read_file(std::string(BERTH_TESTS_DIR) + "/slurm/recorded/" + name);
  return text ? *text : "";
}

TEST(SqueueTable, ReadsWhatSqueuePrints) {
  const std::vector<SqueueRow> rows = read_squeue(recorded("squeue.txt"));
  ASSERT_EQ(rows.size(), 15U);
  EXPECT_EQ(rows[0].id, "1");
  ASSERT_EQ(rows[0].elements.size(), 1U);
  EXPECT_EQ(rows[0].elements[0], std::pair(12U, 19U));
  EXPECT_EQ(rows[0].state, "PENDING");
  EXPECT_EQ(rows[0].reason, "(Resources)");
  EXPECT_EQ(rows[0].name, "berth-aaaa-1");
  EXPECT_TRUE(rows[1].elements.empty());
  EXPECT_EQ(rows[3].elements[0], std::pair(0U, 0U));
  EXPECT_EQ(rows[3].reason, "n1");
}

TEST(SqueueTable, ReadsEndedJobs) {
  bool cancelled = false;
  for (const SqueueRow& row : read_squeue(recorded("squeue_all.txt"))) {
    cancelled = cancelled || (row.id == "3" && row.state == "CANCELLED");
    EXPECT_TRUE(is_over(row.state) || row.state == "RUNNING" || row.state == "PENDING" ||
                row.state == "COMPLETING")
        << row.state;
  }
  EXPECT_TRUE(cancelled);
}

TEST(SqueueTable, TellsLimits) {
  std::map<std::string, std::string> whys;
  for (const SqueueRow& row : read_squeue(recorded("squeue_limits.txt"))) {
    if (row.state == "PENDING") {
      whys[row.name] = why_pending(row.reason);
    }
  }
  EXPECT_EQ(whys, (std::map<std::string, std::string>{
                      {"berth-aaaa-11",
                       "a limit of its QOS is reached: QOSMaxJobsPerUserLimit; it starts when "
                       "others end"},
                      {"berth-aaaa-14",
                       "it asks for what its QOS does not allow one job: "
                       "QOSMaxWallDurationPerJobLimit; it starts if that changes"},
                      {"berth-aaaa-18",
                       "a limit of its account is reached: AssocGrpGRES; it starts when others "
                       "end"}}));
}

TEST(SacctTable, ReadsEndedJobs) {
  const std::vector<SqueueRow> rows = read_sacct(recorded("sacct.txt"));
  const auto state = [&](const char* name, std::uint32_t index) {
    const SqueueRow* const row = find_row(rows, name, index);
    return row == nullptr ? "unknown" : fmt::format("{} {}", row->state, row->status);
  };
  EXPECT_EQ(state("berth-aaaa-1", 1), "COMPLETED 0");
  EXPECT_EQ(state("berth-aaaa-2", 0), "FAILED 768");
  EXPECT_EQ(state("berth-aaaa-3", 0), "TIMEOUT 0");
  EXPECT_EQ(state("berth-aaaa-4", 1), "NODE_FAIL 0");
  EXPECT_EQ(state("berth-aaaa-5", 0), "CANCELLED by 0 0");
  EXPECT_EQ(state("berth-aaaa-7", 0), "FAILED 9");
  EXPECT_EQ(state("berth-aaaa-9", 3), "CANCELLED by 0 0");
  // Cancelled apart from its array while it waited: sacct 22.05 does not know such an element.
  EXPECT_EQ(state("berth-aaaa-9", 2), "unknown");
  EXPECT_TRUE(read_sacct("").empty());
  EXPECT_TRUE(read_sacct("8|PENDING|0:0|berth-aaaa-8\n8|RUNNING|0:0|berth-aaaa-8\n").empty());
}

TEST(SqueueTable, ReadsAndWritesIndices) {
  using Ranges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  EXPECT_EQ(read_indices("1-3,7,10-14:2%5"),
            (Ranges{{1, 3}, {7, 7}, {10, 10}, {12, 12}, {14, 14}}));
  EXPECT_EQ(read_indices("3-1"), Ranges());
  EXPECT_EQ(read_indices("x"), Ranges());
  EXPECT_EQ(write_indices({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(write_indices({4}), "4");
}

TEST(ClusterFacts, ReadsNodesPartitionsAndLimits) {
  ClusterFacts facts;
  facts.nodes = read_nodes(recorded("nodes.txt"));
  facts.partitions = read_partitions(recorded("partitions.txt"));
  read_config(recorded("config.txt"), facts);
  ASSERT_EQ(facts.nodes.size(), 3U);
  EXPECT_EQ(facts.nodes[0].name, "n1");
  EXPECT_EQ(facts.nodes[0].gpus, (std::map<std::string, std::uint32_t>{{"a100", 4}}));
  EXPECT_EQ(facts.nodes[0].used, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(facts.nodes[2].shards, 16U);
  ASSERT_NE(facts.find_partition(""), nullptr);
  EXPECT_EQ(facts.find_partition("")->name, "gpu");
  EXPECT_EQ(facts.find_partition("")->longest, "UNLIMITED");
  EXPECT_EQ(facts.array_size, 10001U);
  EXPECT_FALSE(facts.accounting);
  read_config(recorded("config_accounting.txt"), facts);
  EXPECT_TRUE(facts.accounting);
}

TEST(SlurmWords, TellReasons) {
  EXPECT_EQ(why_pending("(Resources)"), "it waits for free GPUs, CPUs or memory in the cluster");
  EXPECT_EQ(why_pending("(QOSMaxJobsPerUserLimit)"),
            "a limit of its QOS is reached: QOSMaxJobsPerUserLimit; it starts when others end");
  EXPECT_EQ(why_pending("(AssocGrpGRES)"),
            "a limit of its account is reached: AssocGrpGRES; it starts when others end");
  EXPECT_EQ(why_pending("(ReqNodeNotAvail, UnavailableNodes:n1)"),
            "nodes that it could use are down, drained or reserved");
  EXPECT_EQ(why_pending("(Novelty)"), "Slurm says Novelty");
}

TEST(SlurmWords, TellOutagesFromRefusals) {
  for (const char* down : {"sbatch_down.txt", "squeue_down.txt", "scontrol_down.txt"}) {
    EXPECT_EQ(problem_of(recorded(down)), SlurmProblem::Outage) << down;
    EXPECT_TRUE(last_complaint(recorded(down))
                    .ends_with("Unable to contact slurm controller (connect failure)"));
  }
  EXPECT_EQ(problem_of("sbatch: error: Batch job submission failed: Socket timed out on send/recv "
                       "operation"),
            SlurmProblem::Outage);
  for (const auto& [file, complaint] :
       {std::pair{"sbatch_partition.txt", "Invalid partition name specified"},
        {"sbatch_qos.txt", "Invalid qos specification"},
        {"sbatch_account.txt", "Invalid account or account/partition combination specified"},
        {"sbatch_limit.txt",
         "QOSMaxSubmitJobPerUserLimit: Job violates accounting/QOS policy (job submit limit, "
         "user's size and/or time limits)"}}) {
    EXPECT_EQ(problem_of(recorded(file)), SlurmProblem::Refusal) << file;
    EXPECT_EQ(last_complaint(recorded(file)), complaint);
  }
}

TEST(SlurmWords, TellEnds) {
  EXPECT_EQ(end_in_words("NODE_FAIL"), "its node failed");
  EXPECT_EQ(end_in_words("CANCELLED"), "somebody cancelled it in Slurm");
  EXPECT_EQ(end_in_words("CANCELLED by 0"), "root cancelled it in Slurm");
  EXPECT_EQ(end_in_words("COMPLETED"), "");
}

TEST(Wrapper, KeepsEachElementOnALine) {
  WrappedJob job;
  job.job = 12;
  job.attempt = 2;
  job.command = "echo 'a\nb'";
  job.directory = "/home/it's";
  job.output = "/logs/12";
  job.variables = {"BERTH_NAME=x\ny"};
  const std::string line = element_line(job);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_EQ(read_element(line), std::pair(std::uint64_t{12}, std::uint16_t{2}));
  EXPECT_EQ(read_element("rubbish"), std::nullopt);
}

TEST(Wrapper, ReadsRecords) {
  const auto claim =
      read_claim("1.17 0 n1 0,2 1700000000000000000\n2.18 1 n2 - 1700000001000000000\n");
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->owner, "2.18");
  EXPECT_EQ(claim->node, "n2");
  EXPECT_EQ(claim->gpus, "");
  EXPECT_FALSE(read_claim("1.17 0 n1"));  // half of a line
  EXPECT_TRUE(read_claim(kWithdrawn));
  const auto exit = read_exit("1.17 0 3 1 1700000000000000000 4096 120 \n");
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->code, 3);
  EXPECT_EQ(exit->peak, 4096);
  EXPECT_EQ(exit->energy, 120.0);
  const auto unknown = read_exit("1.17 0 126 0 1700000000000000000 - - no such directory\n");
  ASSERT_TRUE(unknown);
  EXPECT_FALSE(unknown->started);
  EXPECT_FALSE(unknown->energy);
  EXPECT_EQ(unknown->problem, "no such directory");
  EXPECT_FALSE(read_exit("1.17 0"));
}

TEST(ClusterConfig, ReadsClusters) {
  const auto clusters = parse_clusters(
      "# ours\n[lab]\nfolder = /shared/berth\npartition = gpu  # default\noption = "
      "--constraint=nvme\npatience = 5s\n[other]\nbin = /opt/slurm/bin\n");
  ASSERT_TRUE(clusters);
  ASSERT_EQ(clusters->size(), 2U);
  EXPECT_EQ((*clusters)[0].name, "lab");
  EXPECT_EQ((*clusters)[0].defaults.options,
            (std::vector<std::string>{"--partition=gpu", "--constraint=nvme"}));
  EXPECT_EQ((*clusters)[0].patience, std::chrono::seconds(5));
  EXPECT_EQ((*clusters)[1].bin, "/opt/slurm/bin");
  for (const char* wrong : {"folder = /x\n", "[lab]\nfolder = x\n", "[auto]\n", "[lab]\nfish = 1\n",
                            "[lab]\noption = --array=3\n"}) {
    EXPECT_FALSE(parse_clusters(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace berth
