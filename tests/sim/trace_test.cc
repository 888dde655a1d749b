#include "sim/trace.h"

#include <gtest/gtest.h>

#include "sim/machine.h"

namespace berth {
namespace {

constexpr std::string_view kHeader = "job_id,user,submit_s,duration_s,gpus,gpu_milli,priority\n";

TEST(Trace, ReadsColumnsByName) {
  const Result<Trace> trace = parse_trace(
      "gpus,job_id,duration_s,submit_s,user,gpu_milli,priority,odd\r\n"
      "2,b,30,10,ann,,,\r\n"
      "1,a,5.5,0,,460,2,x\r\n",
      "t.csv", {});
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  const Workload& workload = trace->workload;
  ASSERT_EQ(workload.jobs.size(), 2U);
  // In order of submission, whatever the file's is.
  EXPECT_EQ(workload.names[0], "a");
  EXPECT_EQ(workload.jobs[0].share, 460U);
  EXPECT_EQ(workload.jobs[0].priority, -2);
  EXPECT_EQ(workload.jobs[0].duration, std::chrono::milliseconds(5500));
  EXPECT_EQ(workload.jobs[1].gpus, 2U);
  EXPECT_EQ(workload.owners[workload.jobs[1].owner], "ann");
  EXPECT_EQ(workload.jobs[1].expected, std::chrono::seconds(30));
}

TEST(Trace, ReadsWeights) {
  const std::string header = "job_id,submit_s,duration_s,gpus,weight\n";
  const Result<Trace> trace = parse_trace(header + "a,0,10,1,3\nb,0,10,1,\n", "t.csv", {});
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_EQ(trace->workload.jobs[0].weight, 3);
  EXPECT_EQ(trace->workload.jobs[1].weight, 1);
  const Result<Trace> again = parse_trace(to_csv(trace->workload), "t.csv", {});
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->workload.jobs[0].weight, 3);
  for (const std::string weight : {"0", "-1", "1.5", "100000"}) {
    EXPECT_FALSE(parse_trace(header + "a,0,10,1," + weight, "t.csv", {}).has_value()) << weight;
  }
}

TEST(Trace, TellsLengthsThatAreStatedFromOthers) {
  const std::string text = "job_id,submit_s,duration_s,gpus,expected_s\na,0,10,1,\nb,0,10,1,20\n";
  const Result<Trace> trace = parse_trace(text, "t.csv", {});
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  const auto told = [&](const Workload& workload, Estimated jobs) {
    EstimateOptions options;
    options.jobs = jobs;
    return estimates(workload, options, 1);
  };
  using Told = std::vector<Duration>;
  constexpr Duration kTen = std::chrono::seconds(10);
  EXPECT_EQ(told(trace->workload, Estimated::All), (Told{kTen, 2 * kTen}));
  EXPECT_EQ(told(trace->workload, Estimated::Stated), (Told{kForever, 2 * kTen}));
  EXPECT_EQ(told(trace->workload, Estimated::None), (Told{kForever, kForever}));
  const Result<Trace> again = parse_trace(to_csv(trace->workload), "t.csv", {});
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(told(again->workload, Estimated::Stated), (Told{kForever, 2 * kTen}));
}

TEST(Trace, KnowsTheColumnsOfPublicTraces) {
  const Result<Trace> helios = parse_trace(
      "job_id,user,vc,gpu_num,submit_time,start_time,end_time,duration\n"
      "7,u1,v1,8,2020-04-01 00:00:10,2020-04-01 00:01:00,2020-04-01 01:01:00,3600\n",
      "h.csv", {});
  ASSERT_TRUE(helios.has_value()) << helios.error().message;
  EXPECT_EQ(helios->workload.jobs[0].duration, std::chrono::hours(1));
  EXPECT_EQ(helios->workload.jobs[0].gpus, 8U);
  const Result<Trace> alibaba = parse_trace(
      "name,num_gpu,gpu_milli,creation_time,deletion_time,scheduled_time\np,1,500,100,190,110\n",
      "a.csv", {});
  ASSERT_TRUE(alibaba.has_value()) << alibaba.error().message;
  EXPECT_EQ(alibaba->workload.jobs[0].duration, std::chrono::seconds(80));
}

TEST(Trace, ReadsTheStandardWorkloadFormat) {
  const Result<Trace> trace = parse_trace(
      "; a comment\n"
      "  1  5  0  100  4 -1 -1  8  200 -1 1 42 -1 -1 -1 -1 -1 -1\n"
      "2 6 0 100 4 -1 -1 -1 -1 -1 1 42 -1 -1 -1 -1 -1 -1\n",
      "t.swf", {});
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_EQ(trace->workload.jobs[0].gpus, 8U);
  EXPECT_EQ(trace->workload.jobs[0].expected, std::chrono::seconds(200));
  EXPECT_EQ(trace->workload.jobs[0].duration, std::chrono::seconds(100));
  EXPECT_EQ(trace->workload.jobs[1].gpus, 4U);
  EXPECT_EQ(trace->workload.jobs[1].expected, std::chrono::seconds(100));
  EXPECT_EQ(trace->workload.owners.back(), "42");
}

struct Wrong {
  std::string row;
  std::string message;
};

class WrongRows : public testing::TestWithParam<Wrong> {};

TEST_P(WrongRows, AreNamedOrSkipped) {
  const std::string text =
      std::string(kHeader) + "ok,u,0,10,1,,\n" + GetParam().row + "\nalso,u,5,10,1,,\n";
  TraceOptions options;
  options.most_gpus = 16;
  const Result<Trace> strict = parse_trace(text, "t.csv", options);
  ASSERT_FALSE(strict.has_value());
  EXPECT_EQ(strict.error().message,
            "t.csv: line 3: " + GetParam().message + " (--skip-bad skips such rows)");
  options.skip_bad = true;
  const Result<Trace> lenient = parse_trace(text, "t.csv", options);
  ASSERT_TRUE(lenient.has_value());
  EXPECT_EQ(lenient->workload.jobs.size(), 2U);
  EXPECT_EQ(lenient->skipped, 1U);
  EXPECT_EQ(lenient->first_skipped, "t.csv: line 3: " + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, WrongRows,
    testing::Values(
        Wrong{"j,u,-1,10,1,,", "column submit_s: '-1' is negative"},
        Wrong{"j,u,1,-10,1,,", "column duration_s: '-10' is negative"},
        Wrong{"j,u,1,nan,1,,", "column duration_s: 'nan' is negative"},
        Wrong{"j,u,,10,1,,", "column submit_s: is missing"},
        Wrong{"j,u", "column submit_s: is missing"},
        Wrong{"j,u,soon,10,1,,", "column submit_s: 'soon' is not a time"},
        Wrong{"j,u,1e30,10,1,,", "column submit_s: '1e30' is too far away"},
        Wrong{"j,u,1,10,0,,", "column gpus: '0' asks for no GPU"},
        Wrong{"j,u,1,10,,,", "column gpus: asks for no GPU"},
        Wrong{"j,u,1,10,1.5,,", "column gpus: '1.5' is not a whole number"},
        Wrong{"j,u,1,10,-2,,", "column gpus: '-2' is negative"},
        Wrong{"j,u,1,10,17,,", "column gpus: the job needs 17 GPUs, but there are only 16"},
        Wrong{"j,u,1,10,1,half,", "column gpu_milli: 'half' is not a whole number"},
        Wrong{"j,u,1,10,1,,high", "column priority: 'high' is not a small whole number"}));

TEST(Trace, TakesWindowsAndUsers) {
  std::string text(kHeader);
  for (int i = 0; i < 10; ++i) {
    text += "j" + std::to_string(i) + (i % 2 == 0 ? ",even," : ",odd,") + std::to_string(i) +
            ",10,1,,\n";
  }
  TraceOptions options;
  options.first_row = 2;
  options.rows = 5;
  options.user = "even";
  const Result<Trace> trace = parse_trace(text, "t.csv", options);
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(trace->workload.names, (std::vector<std::string>{"j2", "j4", "j6"}));
}

TEST(Trace, SurvivesConversion) {
  const Result<Trace> first =
      parse_trace(std::string(kHeader) + "a,ann,1,2,3,,-4\nb,,7,8,1,250,\n", "t.csv", {});
  ASSERT_TRUE(first.has_value());
  const std::string csv = to_csv(first->workload);
  const Result<Trace> again = parse_trace(csv, "t.csv", {});
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(to_csv(again->workload), csv);
  EXPECT_EQ(again->workload.jobs[0].priority, 4);
  EXPECT_EQ(again->workload.jobs[1].share, 250U);
}

TEST(Trace, ReadsCellsInQuotes) {
  const Result<Trace> first =
      parse_trace(std::string(kHeader) + "\"#1, big\",\"ann\" , 1,2,3,,\n", "t.csv", {});
  ASSERT_TRUE(first.has_value()) << first.error().message;
  EXPECT_EQ(first->workload.names[0], "#1, big");
  EXPECT_EQ(first->workload.owners[1], "ann");
  const Result<Trace> again = parse_trace(to_csv(first->workload), "t.csv", {});
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->workload.names[0], "#1, big");
}

TEST(Trace, NeedsColumns) {
  const Result<Trace> trace = parse_trace("job_id,submit_s,gpus\n", "t.csv", {});
  ASSERT_FALSE(trace.has_value());
  EXPECT_EQ(trace.error().message,
            "t.csv: line 1: the header has no column duration_s (or duration, run_time, runtime)");
  EXPECT_FALSE(parse_trace("", "t.csv", {}).has_value());
  EXPECT_FALSE(read_trace("/nowhere.csv", {}).has_value());
}

TEST(MachineSpec, IsRead) {
  const Result<Machine> plain = parse_machine("24");
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->size(), 24U);
  const Result<Machine> mixed = parse_machine("2x8x80GiB:a100+4x4x16GiB:t4@0.4");
  ASSERT_TRUE(mixed.has_value());
  ASSERT_EQ(mixed->size(), 32U);
  EXPECT_EQ((*mixed)[15].spec.memory, gibibytes(80));
  EXPECT_EQ((*mixed)[15].spec.locality.node, 1);
  EXPECT_EQ((*mixed)[16].spec.model, "t4");
  EXPECT_EQ((*mixed)[16].spec.locality.node, 2);
  EXPECT_DOUBLE_EQ((*mixed)[16].speed, 0.4);
  EXPECT_DOUBLE_EQ((*mixed)[16].spec.power.busy, 70);
  for (const std::string_view wrong : {"", "0", "x8", "3x", "3x8xlots", "3x8x1GiBx2", "8:a100@0",
                                       "8:a100@fast", "-4", "99999x99999", "8+", "GiB"}) {
    EXPECT_FALSE(parse_machine(wrong).has_value()) << wrong;
  }
}

}  // namespace
}  // namespace berth
