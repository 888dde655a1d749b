// Jobs as reports have them, and changes of jobs.
#include <gtest/gtest.h>

#include "api/messages.h"

namespace berth {
namespace {

using std::chrono::seconds;

JobReport bare_report(std::uint64_t id) {
  JobReport report;
  report.id = JobId{id};
  return report;
}

JobReport full_report() {
  JobReport report;
  report.id = JobId{12};
  JobDescription& job = report.description;
  job.name = "train";
  job.project = "vision";
  job.command = "python train.py --note 'grün'";
  job.directory = "/data";
  job.output = "out/%j";
  job.error = "err/%j";
  job.labels = {{"team", "a"}};
  job.sweep = "s1";
  job.parameters = {{"lr", "0.1"}};
  job.array_index = 3;
  job.warning_signal = 10;
  job.user = 1000;
  JobSpec& spec = job.spec;
  spec.needs.gpus = 2;
  spec.needs.memory = gibibytes(8);
  spec.needs.claim = ClaimSource::Given;
  spec.needs.share = 500;
  spec.needs.model = "a100";
  spec.needs.only = {"0", "1"};
  spec.needs.mps = mps_of(0);
  spec.needs.thread_percentage = 50;
  spec.priority = -5;
  spec.weight = 3;
  spec.limit = seconds(3600);
  spec.expected = std::chrono::milliseconds(2300);
  spec.begin = Time(seconds(1'700'000'000));
  spec.warn_before = seconds(5);
  spec.retry = {2, seconds(1), true, false, true};
  spec.after = {{JobId{3}, Dependency::When::Ok}, {JobId{4}, Dependency::When::NotOk}};
  spec.held = true;
  report.state = "running";
  report.attempt = 2;
  report.gpus = {"0", "1"};
  report.pid = 4711;
  report.signal = 9;
  report.reason = "because";
  report.submitted = 1700000000.125;
  report.started = 1700000001.5;
  report.log = "/logs/12";
  report.paused = true;
  report.expected_end = 1700000099;
  report.peak = gibibytes(3);
  report.gpu_seconds = 4.5;
  report.energy = 100.5;
  report.why = "it waits";
  AttemptReport attempt;
  attempt.attempt = 1;
  attempt.gpus = {"0"};
  attempt.started = 1700000000.5;
  attempt.ended = 1700000001.5;
  attempt.outcome = "failed";
  attempt.exit_code = 1;
  attempt.peak = gibibytes(1);
  attempt.peaks = {gibibytes(1)};
  attempt.log = "/logs/12.1";
  report.attempts = {attempt, AttemptReport{}};
  report.attempts[1].attempt = 2;
  report.environment = {"A=1"};
  return report;
}

TEST(JobReport, SaysTheSameAgain) {
  for (const JobReport& report : {full_report(), bare_report(1)}) {
    const std::string json = to_json(report);
    const Result<JobReport> read = parse_job_report(json);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(to_json(*read), json);
  }
}

TEST(JobReport, IsReadAsItIs) {
  const Result<JobReport> read = parse_job_report(to_json(full_report()));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->id, JobId{12});
  EXPECT_EQ(read->description.spec.needs.gpus, 2U);
  EXPECT_EQ(read->gpus, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(read->description.spec.needs.memory, gibibytes(8));
  EXPECT_EQ(read->description.spec.expected, std::chrono::milliseconds(2300));
  EXPECT_EQ(read->description.user, 1000U);
  EXPECT_EQ(read->ended, 0);
  EXPECT_FALSE(read->exit_code.has_value());
  ASSERT_EQ(read->attempts.size(), 2U);
  EXPECT_EQ(read->attempts[0].outcome, "failed");
}

TEST(JobReport, FieldsForScriptsAreAlwaysThere) {
  EXPECT_EQ(
      to_json(bare_report(1)),
      R"({"version":1,"id":1,"name":"","project":"","user":0,"state":"","attempt":0,"gpus":[],)"
      R"("pid":null,"exit_code":null,"signal":null,"reason":null,"submitted":null,)"
      R"("started":null,"ended":null,"log":null,"gpus_needed":1,"claim":"auto"})");
}

TEST(JobReport, Pages) {
  JobsReply page;
  page.jobs = {full_report(), bare_report(13)};
  for (const std::optional<JobId> next :
       {std::optional<JobId>(JobId{13}), std::optional<JobId>()}) {
    page.next = next;
    const Result<JobsReply> read = parse_jobs_reply(to_json(page));
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(read->next, next);
    EXPECT_EQ(to_json(*read), to_json(page));
  }
}

TEST(JobReport, FieldsOfLaterVersionsArePassedOver) {
  EXPECT_TRUE(parse_job_report(R"({"id":1,"of_a_later_version":[]})").has_value());
}

TEST(Submission, GpusHaveOneNameEach) {
  SubmitRequest submission;
  submission.jobs.emplace_back().description.command = "true";
  submission.jobs[0].description.spec.needs.gpus = 3;
  const std::string json = to_json(submission);
  EXPECT_NE(json.find(R"("gpus_needed":3)"), std::string::npos) << json;
  EXPECT_EQ(json.find(R"("gpus":)"), std::string::npos) << json;
  for (const std::string_view said : {R"("gpus_needed":2)", R"("gpus":2)"}) {
    const Result<SubmitRequest> read =
        parse_submit_request(R"({"jobs":[{"command":"true",)" + std::string(said) + "}]}");
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(read->jobs[0].description.spec.needs.gpus, 2U);
  }
}

TEST(Edit, ChangesWhatItSays) {
  EditRequest request;
  EXPECT_EQ(to_json(request), "{}");
  EXPECT_EQ(request, EditRequest{});
  request.name = "b";
  request.gpus_needed = 2;
  request.mem = gibibytes(1);
  request.claim = ClaimSource::Given;
  request.timeout = seconds(0);
  request.begin = Time(seconds(5));
  request.retries = 2;
  request.retry_on = std::vector<std::string>{"failed"};
  request.only = std::vector<std::string>{"0"};
  request.mps = true;
  JobDescription job;
  job.command = "true";
  job.project = "p";
  job.spec.limit = seconds(9);
  const Result<JobEdit> edit = JobEdit::parse(to_json(request));
  ASSERT_TRUE(edit.has_value()) << edit.error().message;
  ASSERT_TRUE(edit->apply(job).has_value());
  EXPECT_EQ(job.name, "b");
  EXPECT_EQ(job.project, "p");
  EXPECT_EQ(job.spec.needs.gpus, 2U);
  EXPECT_EQ(job.spec.needs.memory, gibibytes(1));
  EXPECT_EQ(job.spec.limit, kForever);
  EXPECT_EQ(job.spec.begin, Time(seconds(5)));
  EXPECT_EQ(job.spec.retry.most, 2);
  EXPECT_FALSE(job.spec.retry.on_time_limit);
  EXPECT_EQ(job.spec.needs.only, std::vector<std::string>{"0"});
  EXPECT_NE(job.spec.needs.mps, 0U);
}

TEST(Edit, WhatCannotBeChanged) {
  const Result<JobEdit> edit = JobEdit::parse(R"({"project":"p"})");
  ASSERT_FALSE(edit.has_value());
  EXPECT_EQ(edit.error().message, "project cannot be changed once a job is queued");
}

}  // namespace
}  // namespace berth
