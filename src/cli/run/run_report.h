// Reporters: the ways in which `berth run` reports its progress. Messages go to stderr, data to
// stdout.
#pragma once

#include <memory>
#include <string>

#include "cli/toolkit/terminal.h"
#include "run/observer.h"
#include "run/outputs.h"

namespace berth {

struct ReportOptions {
  std::string program = "berth run";  // in front of its messages
  bool quiet = false;                 // only failures and the last line
  bool verbose = false;               // also one line per start
  bool prefix = false;                // a job's number or name in front of each line that it prints
};

/// One line per ended job, then the summary: for files, pipes and logs.
std::unique_ptr<RunObserver> make_plain_reporter(ReportOptions options);
/// A progress bar and one line per device, with the jobs' output above: for terminals.
std::unique_ptr<RunObserver> make_progress_reporter(ReportOptions options);
/// One JSON object per event on stdout.
std::unique_ptr<RunObserver> make_json_reporter();
/// The reporter that suits the destination of the output. Sets in `outputs` which streams of jobs
/// the reporter must see.
std::unique_ptr<RunObserver> choose_reporter(const ReportOptions& options, bool json,
                                             JobOutputs::Options& outputs);
/// For one command that has the terminal to itself. Sets `code` to the exit code that a shell would
/// report for the command.
std::unique_ptr<RunObserver> make_foreground_reporter(ReportOptions options, int& code);

// --- shared by reporters

/// "failed (exit 3)", "timed out", "killed by SIGKILL".
std::string describe_end(const JobEndEvent& end);
/// "[12] ok 3.1s gpu 2: CMD", with as much of the command as fits.
std::string describe_job_end(const JobEvent& job, const JobEndEvent& end, std::size_t columns);
/// The summary at the end: devices, jobs, waits, and the closing sentence.
std::string describe_summary(const RunSummary& summary, const Terminal& terminal, bool table);
/// "5000 succeeded, 0 failed, 0 did not run in 4.2s".
std::string describe_counts(const RunSummary& summary);
/// `lines` with "NAME: " in front of each.
std::string prefix_lines(std::string_view prefix, std::string_view lines);
/// A command on one line.
std::string one_line(std::string_view command);

}  // namespace berth
