#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <map>

#include "cli/run/run_report.h"

namespace berth {
namespace {

class PlainReporter : public RunObserver {
 public:
  explicit PlainReporter(ReportOptions options)
      : options_(std::move(options)), terminal_(describe_terminal(STDERR_FILENO)) {}

  void job_started(const JobEvent& job) override {
    if (options_.prefix) {
      prefixes_[job.id] = job.name.empty() ? fmt::format("[{}] ", job.id.value)
                                           : fmt::format("[{} {}] ", job.id.value, job.name);
    }
    if (options_.verbose) {
      fmt::print(stderr, "[{}] started on gpu {} as pid {}: {}\n", job.id.value,
                 fmt::join(job.gpus, ","), job.pid, one_line(job.command));
    }
  }

  void job_ended(const JobEvent& job, const JobEndEvent& end) override {
    prefixes_.erase(job.id);
    if (!options_.quiet || end.outcome != Outcome::Succeeded) {
      std::fputs((describe_job_end(job, end, 0) + "\n").c_str(), stderr);
    }
  }

  void job_output(JobId job, bool is_stderr, std::string_view lines) override {
    std::FILE* stream = is_stderr ? stderr : stdout;
    const auto prefix = prefixes_.find(job);
    const std::string text =
        prefix == prefixes_.end() ? std::string(lines) : prefix_lines(prefix->second, lines);
    std::fwrite(text.data(), 1, text.size(), stream);
    std::fflush(stream);
  }

  void warning(std::string_view text) override {
    fmt::print(stderr, "{}: {}\n", options_.program, text);
  }

  void finished(const RunSummary& summary) override {
    std::fputs(describe_summary(summary, terminal_, !options_.quiet).c_str(), stderr);
  }

 private:
  ReportOptions options_;
  Terminal terminal_;
  std::map<JobId, std::string> prefixes_;
};

}  // namespace

std::unique_ptr<RunObserver> make_plain_reporter(ReportOptions options) {
  return std::make_unique<PlainReporter>(std::move(options));
}

}  // namespace berth
