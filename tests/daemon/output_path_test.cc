// Where output goes, and what is said when a start fails.
#include "daemon/output_path.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace berth {
namespace {

struct PatternCase {
  const char* name;
  const char* pattern;
  const char* path;
};

class OutputPaths : public ::testing::TestWithParam<PatternCase> {};

TEST_P(OutputPaths, AreFilledIn) {
  JobDescription job;
  job.name = "train %j";
  job.project = "vision";
  job.directory = "/home/ann";
  job.array_index = 4;
  EXPECT_EQ(output_path(GetParam().pattern, JobId{12}, job), GetParam().path);
}

INSTANTIATE_TEST_SUITE_P(
    Daemon, OutputPaths,
    ::testing::Values(PatternCase{"none", "", ""}, PatternCase{"absolute", "/tmp/x", "/tmp/x"},
                      PatternCase{"relative", "x.log", "/home/ann/x.log"},
                      PatternCase{"relative_folder", "../a/b", "/home/ann/../a/b"},
                      PatternCase{"number", "%j.log", "/home/ann/12.log"},
                      PatternCase{"index", "%j_%a", "/home/ann/12_4"},
                      PatternCase{"project", "/logs/%p/%j", "/logs/vision/12"},
                      PatternCase{"a_name_is_not_filled_in_again", "%n", "/home/ann/train %j"},
                      PatternCase{"percent", "100%%", "/home/ann/100%"},
                      PatternCase{"percent_then_letter", "%%j", "/home/ann/%j"},
                      PatternCase{"unknown", "%x%J", "/home/ann/%x%J"},
                      PatternCase{"at_the_end", "a%", "/home/ann/a%"},
                      PatternCase{"twice", "%j%j", "/home/ann/1212"}),
    [](const auto& row) { return row.param.name; });

TEST(OutputPath, WhatIsNotThereIsEmptyOrZero) {
  JobDescription job;
  job.directory = "/home/ann";
  EXPECT_EQ(output_path("%p-%n-%a", JobId{1}, job), "/home/ann/--0");
}

struct StartErrorCase {
  const char* name;
  StartStep step;
  int error;
  const char* says;
};

class StartErrors : public ::testing::TestWithParam<StartErrorCase> {};

TEST_P(StartErrors, SayWhatStoodInTheWay) {
  EXPECT_EQ(describe_start_error(GetParam().error, GetParam().step), GetParam().says);
}

INSTANTIATE_TEST_SUITE_P(
    Daemon, StartErrors,
    ::testing::Values(StartErrorCase{"user", StartStep::User, EPERM,
                                     "cannot become its user: Operation not permitted"},
                      StartErrorCase{"directory", StartStep::Directory, ENOENT,
                                     "cannot enter its directory: No such file or directory"},
                      StartErrorCase{"output", StartStep::Output, EACCES,
                                     "cannot open its output: Permission denied"},
                      StartErrorCase{"error_output", StartStep::ErrorOutput, EISDIR,
                                     "cannot open its error output: Is a directory"},
                      StartErrorCase{"fork", StartStep::Fork, EAGAIN,
                                     "cannot start it: Resource temporarily unavailable"},
                      StartErrorCase{"record", StartStep::Record, ENOSPC,
                                     "cannot start it: No space left on device"},
                      StartErrorCase{"command", StartStep::Command, E2BIG,
                                     "cannot start it: Argument list too long"},
                      StartErrorCase{"unknown_number", StartStep::None, 99999,
                                     "cannot start it: error 99999"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace berth
