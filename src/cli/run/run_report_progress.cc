// The live view on a terminal: a bar and one line per device at the bottom, redrawn in place; what
// jobs print scrolls by above it.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <map>

#include "base/units.h"
#include "cli/run/run_report.h"
#include "cli/toolkit/table.h"

namespace berth {
namespace {

constexpr Duration kInterval = std::chrono::milliseconds(100);

std::string paint(const Terminal& terminal, const char* code, std::string text) {
  return terminal.colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}

std::string bar(double part, std::size_t width) {
  const auto full = static_cast<std::size_t>(part * static_cast<double>(width) + 0.5);
  std::string text;
  for (std::size_t i = 0; i < width; ++i) {
    text += i < full ? "█" : "░";
  }
  return text;
}

class ProgressReporter final : public RunObserver {
 public:
  explicit ProgressReporter(ReportOptions options) : options_(options) {}
  ~ProgressReporter() override { erase(); }

  void job_started(const JobEvent& job) override {
    if (options_.prefix) {
      prefixes_[job.id] = fmt::format("[{}] ", job.id.value);
    }
    if (options_.verbose) {
      const std::string line = fmt::format("[{}] started on gpu {}: {}", job.id.value,
                                           fmt::join(job.gpus, ","), one_line(job.command));
      above(stderr, truncate_to_width(line, describe_terminal(STDERR_FILENO).columns - 1) + "\n");
    }
  }

  void job_ended(const JobEvent& job, const JobEndEvent& end) override {
    prefixes_.erase(job.id);
    const Terminal terminal = describe_terminal(STDERR_FILENO);
    if (end.outcome != Outcome::Succeeded) {
      above(stderr, paint(terminal, "31", describe_job_end(job, end, terminal.columns)) + "\n");
    } else if (options_.verbose) {
      above(stderr, describe_job_end(job, end, terminal.columns) + "\n");
    }
  }

  void job_output(JobId job, bool is_stderr, std::string_view lines) override {
    const auto prefix = prefixes_.find(job);
    above(is_stderr ? stderr : stdout,
          prefix == prefixes_.end() ? std::string(lines) : prefix_lines(prefix->second, lines));
  }

  void warning(std::string_view text) override {
    const Terminal terminal = describe_terminal(STDERR_FILENO);
    above(stderr,
          wrap_words(fmt::format("{}: {}", options_.program, text), terminal.columns) + "\n");
  }

  Duration interval() const override { return kInterval; }

  void progress(const RunProgress& progress) override {
    const Terminal terminal = describe_terminal(STDERR_FILENO);
    std::string text = status_line(progress, terminal) + "\n";
    // A screen full of devices leaves room for the bar and for a few lines of output.
    const std::size_t room = terminal.rows > 8 ? terminal.rows - 6 : 2;
    std::size_t lines = 1;
    for (const DeviceProgress& device : progress.devices) {
      if (lines > room) {
        text += fmt::format("  … and {} more GPUs\n", progress.devices.size() - lines + 1);
        ++lines;
        break;
      }
      text += device_line(device, terminal) + "\n";
      ++lines;
    }
    erase();
    std::fputs(text.c_str(), stderr);
    drawn_ = lines;
  }

  void finished(const RunSummary& summary) override {
    erase();
    std::fputs(describe_summary(summary, describe_terminal(STDERR_FILENO), !options_.quiet).c_str(),
               stderr);
  }

 private:
  void erase() {
    if (drawn_ > 0) {
      fmt::print(stderr, "\x1b[{}A\x1b[J", drawn_);
      drawn_ = 0;
    }
  }

  void above(std::FILE* stream, const std::string& text) {
    erase();
    std::fwrite(text.data(), 1, text.size(), stream);
    std::fflush(stream);
  }

  static std::string status_line(const RunProgress& progress, const Terminal& terminal) {
    const RunCounts& counts = progress.counts;
    const std::uint64_t done = counts.ended() + counts.skipped + counts.not_run;
    const std::uint64_t total = done + counts.running + counts.waiting;
    const std::uint64_t bad = counts.failed + counts.timed_out;
    std::string text =
        fmt::format(" {}/{}{} done, {} running{}, {}", done, total, progress.input_open ? "+" : "",
                    counts.running, bad > 0 ? fmt::format(", {} failed", bad) : "",
                    format_duration(progress.elapsed));
    if (progress.remaining != kForever) {
      text += fmt::format(", about {} left", format_duration(progress.remaining));
    }
    const std::size_t columns = terminal.columns > 0 ? terminal.columns : 80;
    const std::size_t width =
        std::min<std::size_t>(30, columns > text.size() + 12 ? columns - text.size() - 2 : 0);
    const double part = total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total);
    return paint(terminal, bad > 0 ? "33" : "32", bar(part, width)) +
           truncate_to_width(text, columns - 1 - width);
  }

  static std::string device_line(const DeviceProgress& device, const Terminal& terminal) {
    std::string text = fmt::format("  gpu {:<4}", device.name);
    text += device.utilization ? fmt::format(" {:>3}%", *device.utilization) : "     ";
    // Where there is little room, what runs matters more.
    constexpr std::size_t kRoomForMemory = 60;
    if (device.used && device.memory > Bytes{} && terminal.columns >= kRoomForMemory) {
      text += fmt::format(" {:>8}/{}", format_bytes(*device.used), format_bytes(device.memory));
    }
    if (device.jobs.empty()) {
      text += device.taken ? "  in use by another berth" : "  idle";
    } else {
      text += fmt::format("  {:>7}  [{}] {}", format_duration(device.running),
                          device.jobs.front().value, one_line(device.command));
      if (device.jobs.size() > 1) {
        text += fmt::format("  (+{})", device.jobs.size() - 1);
      }
    }
    return truncate_to_width(text, terminal.columns > 0 ? terminal.columns - 1 : 79);
  }

  ReportOptions options_;
  std::map<JobId, std::string> prefixes_;
  std::size_t drawn_ = 0;
};

}  // namespace

std::unique_ptr<RunObserver> make_progress_reporter(ReportOptions options) {
  return std::make_unique<ProgressReporter>(options);
}

}  // namespace berth
