// Needs as options of sbatch: a row for each.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "slurm/sbatch_options.h"

namespace berth {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

ClusterFacts three_nodes(std::uint32_t shards, std::uint32_t mps) {
  ClusterFacts facts;
  for (const auto& [name, type] : {std::pair{"n1", "a100"}, {"n2", "a100"}, {"n3", "t4"}}) {
    ClusterNode node;
    node.name = name;
    node.partitions = {"gpu"};
    node.gpus[type] = 4;
    node.shards = shards;
    node.mps = mps;
    facts.nodes.push_back(node);
  }
  facts.partitions = {{"gpu", true, "2-00:00:00"}, {"empty", false, "UNLIMITED"}};
  return facts;
}

struct Row {
  const char* what;
  std::function<void(JobSpec&)> change;
  std::string expected;  // the options, or the beginning of the refusal
};

std::string outcome(const JobSpec& spec, const ClusterFacts& facts) {
  const auto options = sbatch_options(spec, {}, facts);
  return options ? fmt::format("{}", fmt::join(*options, " "))
                 : "refused: " + options.error().message;
}

TEST(SbatchOptions, MapNeeds) {
  const std::string any = "--nodes=1 --ntasks=1 ";
  const std::string end = " --time=2-00:00:00 --no-requeue";
  const std::vector<Row> rows = {
      {"nothing", [](JobSpec&) {}, any + "--gpus-per-node=1" + end},
      {"no GPU", [](JobSpec& s) { s.needs.gpus = 0; }, "--nodes=1 --ntasks=1" + end},
      {"GPUs", [](JobSpec& s) { s.needs.gpus = 4; }, any + "--gpus-per-node=4" + end},
      {"model", [](JobSpec& s) { s.needs.model = "A100"; }, any + "--gpus-per-node=a100:1" + end},
      {"a part of its name", [](JobSpec& s) { s.needs.model = "T"; },
       any + "--gpus-per-node=t4:1" + end},
      {"share", [](JobSpec& s) { s.needs.share = 300; }, any + "--gres=shard:2" + end},
      {"limit", [](JobSpec& s) { s.limit = seconds(61); },
       any + "--gpus-per-node=1 --time=4 --no-requeue"},
      {"hours", [](JobSpec& s) { s.limit = hours(2); },
       any + "--gpus-per-node=1 --time=122 --no-requeue"},
      {"priority", [](JobSpec& s) { s.priority = 7; },
       any + "--gpus-per-node=1 --time=2-00:00:00 --nice=7 --no-requeue"},
      {"requeue", [](JobSpec& s) { s.retry.when_lost = true; },
       any + "--gpus-per-node=1 --time=2-00:00:00 --requeue"},
      {"raw",
       [](JobSpec& s) {
         s.needs.target_options = {"--mem=8G", "--account=lab"};
       },
       any + "--gpus-per-node=1" + end + " --mem=8G --account=lab"},
      {"time of its own", [](JobSpec& s) { s.needs.target_options = {"--time=5"}; },
       any + "--gpus-per-node=1 --no-requeue --time=5"},
      {"dependencies, start, retries and warnings are berth's",
       [](JobSpec& s) {
         s.after = {{JobId{3}}};
         s.begin = Time(hours(1));
         s.retry.most = 2;
         s.warn_before = minutes(1);
       },
       any + "--gpus-per-node=1" + end},
      {"too many", [](JobSpec& s) { s.needs.gpus = 5; }, "refused: needs 5 GPUs on one node"},
      {"no such model", [](JobSpec& s) { s.needs.model = "h100"; },
       "refused: none of the cluster's types of GPUs has 'h100' in its name: it has a100, t4"},
      {"no MPS", [](JobSpec& s) { s.needs.mps = 1; },
       "refused: the cluster has no MPS, so its GPUs cannot be shared: omit --mps"},
      {"shares of two", [](JobSpec& s) { s.needs.share = 300, s.needs.gpus = 2; },
       "refused: a part of a GPU can be had of one GPU only"},
      {"raise", [](JobSpec& s) { s.priority = -1; }, "refused: priority -1 cannot be had"},
      {"only", [](JobSpec& s) { s.needs.only = {"0"}; }, "refused: --only names GPUs of this"},
      {"profile", [](JobSpec& s) { s.needs.profile = seconds(9); }, "refused: a run to measure"},
      {"ours", [](JobSpec& s) { s.needs.target_options = {"--array=1-3"}; },
       "refused: --array is set by berth"},
      {"no option", [](JobSpec& s) { s.needs.target_options = {"gpu"}; },
       "refused: 'gpu' is not an option of sbatch"},
      {"no partition", [](JobSpec& s) { s.needs.target_options = {"--partition=x"}; },
       "refused: the cluster has no partition 'x'"},
      {"partition without GPUs", [](JobSpec& s) { s.needs.target_options = {"--partition=empty"}; },
       "refused: needs 1 GPUs on one node"},
  };
  for (const Row& row : rows) {
    JobSpec spec;
    spec.needs.target = "slurm";
    row.change(spec);
    const std::string made = outcome(spec, three_nodes(16, 0));
    EXPECT_EQ(
        made.substr(0, row.expected.starts_with("refused") ? row.expected.size() : made.size()),
        row.expected)
        << row.what;
  }
}

TEST(SbatchOptions, ShareByMpsWhereThereIsNothingElse) {
  JobSpec spec;
  spec.needs.target = "slurm";
  spec.needs.mps = 1;
  spec.needs.thread_percentage = 30;
  EXPECT_EQ(outcome(spec, three_nodes(0, 400)),
            "--nodes=1 --ntasks=1 --gres=mps:30 --time=2-00:00:00 --no-requeue");
}

TEST(SbatchOptions, UnknownFactsRefuseNothing) {
  JobSpec spec;
  spec.needs.target = "slurm";
  spec.needs.gpus = 64;
  spec.needs.model = "h100";
  EXPECT_EQ(outcome(spec, {}),
            "--nodes=1 --ntasks=1 --gpus-per-node=h100:64 --time=UNLIMITED --no-requeue");
}

}  // namespace
}  // namespace berth
