// The reporter of `berth run -- COMMAND`: the command has the screen, and berth says only what it
// must.
#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "cli/run/run_report.h"

namespace berth {
namespace {

class ForegroundReporter final : public RunObserver {
 public:
  ForegroundReporter(ReportOptions options, int& code)
      : options_(std::move(options)), code_(code) {}

  void job_started(const JobEvent& job) override {
    if (options_.verbose) {
      say(fmt::format("on gpu {} as pid {}", fmt::join(job.gpus, ","), job.pid));
    }
  }

  void job_ended(const JobEvent&, const JobEndEvent& end) override {
    constexpr int kCannotStart = 127;
    constexpr int kTimedOut = 124;
    constexpr int kSignalled = 128;  // a shell adds it to the number of the signal
    code_ = end.start_error != 0               ? kCannotStart
            : end.outcome == Outcome::TimedOut ? kTimedOut
            : end.signal != 0                  ? kSignalled + end.signal
                                               : end.exit_code;
    // What the code alone does not tell.
    const bool plain = end.outcome == Outcome::Succeeded ||
                       (end.outcome == Outcome::Failed && end.signal == 0 && end.start_error == 0);
    if (!plain || end.retried) {
      say(describe_end(end) + (end.retried ? ", running it again" : ""));
    }
  }

  void job_output(JobId, bool is_stderr, std::string_view lines) override {
    std::FILE* stream = is_stderr ? stderr : stdout;
    std::fwrite(lines.data(), 1, lines.size(), stream);
    std::fflush(stream);
  }

  void warning(std::string_view text) override { say(text); }
  void device_taken(std::string_view, const LockHolder&) override {}  // stalled() says enough
  void stalled(std::string_view why) override {
    if (!std::exchange(said_that_it_waits_, true)) {
      say(fmt::format("waiting: {}", why));
    }
  }
  void interrupted(int level, std::uint64_t) override {
    say(level <= 2 ? "asked the command to end (TERM); again kills it" : "killed the command");
  }

 private:
  void say(std::string_view text) const {
    if (!options_.quiet) {
      fmt::print(stderr, "{}: {}\n", options_.program, text);
    }
  }

  ReportOptions options_;
  int& code_;
  bool said_that_it_waits_ = false;
};

}  // namespace

std::unique_ptr<RunObserver> make_foreground_reporter(ReportOptions options, int& code) {
  return std::make_unique<ForegroundReporter>(std::move(options), code);
}

}  // namespace berth
