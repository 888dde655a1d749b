// The event stream of `berth run --json`: one object a line, each with the version of this form.
#include <cstdio>
#include <optional>

#include "api/json_writer.h"
#include "cli/run/run_report.h"

namespace berth {
namespace {

/// One event on a line of its own. `body` writes its other fields.
template <class Body>
void print_event(std::string_view name, const Body& body) {
  JsonWriter json;
  json.object([&] {
    json.field("version", 1);
    json.field("event", name);
    body(json);
  });
  const std::string line = json.take() + "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

template <class T>
std::optional<T> unless(bool absent, T value) {
  return absent ? std::nullopt : std::optional<T>(std::move(value));
}

void write_job(JsonWriter& json, const JobEvent& job) {
  json.field("job", job.id);
  json.field("name", unless(job.name.empty(), job.name));
  json.field("attempt", job.attempt);
  json.field("gpus", job.gpus);
  json.field("pid", unless(job.pid == 0, job.pid));
  json.field("time", job.time);
  json.field("command", job.command);
}

class JsonReporter final : public RunObserver {
 public:
  void job_started(const JobEvent& job) override {
    print_event("start", [&](JsonWriter& json) { write_job(json, job); });
  }

  void job_ended(const JobEvent& job, const JobEndEvent& end) override {
    print_event(end.retried ? "retry" : "end", [&](JsonWriter& json) {
      write_job(json, job);
      json.field("state", outcome_name(end.outcome));
      json.field("exit_code", unless(end.signal != 0, end.exit_code));
      json.field("signal", unless(end.signal == 0, end.signal));
      json.field("reason", unless(end.outcome == Outcome::Succeeded, describe_end(end)));
      json.field("runtime_s", to_seconds(end.runtime));
      json.field("note", unless(end.note.empty(), end.note));
      json.field("peak_memory_bytes", unless(end.peak_memory == Bytes{}, end.peak_memory));
    });
  }

  void job_output(JobId job, bool is_stderr, std::string_view lines) override {
    print_event("output", [&](JsonWriter& json) {
      json.field("job", job);
      json.field("stream", is_stderr ? "stderr" : "stdout");
      json.field("text", lines);
    });
  }

  void warning(std::string_view text) override {
    print_event("warning", [&](JsonWriter& json) { json.field("text", text); });
  }

  void finished(const RunSummary& summary) override {
    const RunCounts& counts = summary.counts;
    print_event("summary", [&](JsonWriter& json) {
      json.field("succeeded", counts.succeeded);
      json.field("failed", counts.failed);
      json.field("timed_out", counts.timed_out);
      json.field("cancelled", counts.cancelled);
      json.field("not_run", counts.not_run);
      json.field("skipped", counts.skipped);
      json.field("invalid", counts.invalid);
      json.field("out_of_memory", counts.out_of_memory);
      json.field("retries", summary.retries);
      json.field("elapsed_s", to_seconds(summary.elapsed));
      json.field("total_wait_s", to_seconds(summary.total_wait));
      json.field("longest_wait_s", to_seconds(summary.longest_wait));
      json.field("lost_output_bytes", summary.lost_output);
      json.field("interrupted", summary.interrupted);
      json.field("halted", summary.halted);
      json.array("gpus", [&] {
        for (const DeviceTotals& device : summary.devices) {
          json.object([&] {
            json.field("name", device.name);
            json.field("jobs", device.jobs);
            json.field("busy_s", to_seconds(device.busy));
            json.field("utilization", device.mean_utilization);
            json.field("peak_memory_bytes", device.peak_memory);
            json.field("energy_j", device.energy);
          });
        }
      });
    });
  }
};

}  // namespace

std::unique_ptr<RunObserver> make_json_reporter() { return std::make_unique<JsonReporter>(); }

}  // namespace berth
