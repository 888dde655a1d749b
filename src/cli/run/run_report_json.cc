// The event stream of `berth run --json`: one object a line, each with the version of this form.
#include <cstdio>

#include "cli/run/run_report.h"
#include "cli/toolkit/json.h"

namespace berth {
namespace {

OrderedJson event(const char* name) { return {{"version", 1}, {"event", name}}; }

void print(const OrderedJson& json) {
  // What a job prints need not be UTF-8; the stream must be.
  const std::string line = json_text(json) + "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

OrderedJson job_event(const char* name, const JobEvent& job) {
  OrderedJson json = event(name);
  json["job"] = job.id.value;
  json["name"] = job.name.empty() ? OrderedJson() : OrderedJson(job.name);
  json["attempt"] = job.attempt;
  json["gpus"] = job.gpus;
  json["pid"] = job.pid == 0 ? OrderedJson() : OrderedJson(job.pid);
  json["time"] = job.time;
  json["command"] = job.command;
  return json;
}

class JsonReporter final : public RunObserver {
 public:
  void job_started(const JobEvent& job) override { print(job_event("start", job)); }

  void job_ended(const JobEvent& job, const JobEndEvent& end) override {
    OrderedJson json = job_event(end.retried ? "retry" : "end", job);
    json["state"] = outcome_name(end.outcome);
    json["exit_code"] = end.signal == 0 ? OrderedJson(end.exit_code) : OrderedJson();
    json["signal"] = end.signal != 0 ? OrderedJson(end.signal) : OrderedJson();
    json["reason"] =
        end.outcome == Outcome::Succeeded ? OrderedJson() : OrderedJson(describe_end(end));
    json["runtime_s"] = to_seconds(end.runtime);
    json["note"] = end.note.empty() ? OrderedJson() : OrderedJson(end.note);
    json["peak_memory_bytes"] =
        end.peak_memory > Bytes{} ? OrderedJson(end.peak_memory.count) : OrderedJson();
    print(json);
  }

  void job_output(JobId job, bool is_stderr, std::string_view lines) override {
    OrderedJson json = event("output");
    json["job"] = job.value;
    json["stream"] = is_stderr ? "stderr" : "stdout";
    json["text"] = lines;
    print(json);
  }

  void warning(std::string_view text) override {
    OrderedJson json = event("warning");
    json["text"] = text;
    print(json);
  }

  void finished(const RunSummary& summary) override {
    const RunCounts& counts = summary.counts;
    OrderedJson json = event("summary");
    json["succeeded"] = counts.succeeded;
    json["failed"] = counts.failed;
    json["timed_out"] = counts.timed_out;
    json["cancelled"] = counts.cancelled;
    json["not_run"] = counts.not_run;
    json["skipped"] = counts.skipped;
    json["invalid"] = counts.invalid;
    json["retries"] = summary.retries;
    json["elapsed_s"] = to_seconds(summary.elapsed);
    json["total_wait_s"] = to_seconds(summary.total_wait);
    json["longest_wait_s"] = to_seconds(summary.longest_wait);
    json["lost_output_bytes"] = summary.lost_output;
    json["interrupted"] = summary.interrupted;
    json["halted"] = summary.halted;
    json["gpus"] = OrderedJson::array();
    for (const DeviceTotals& device : summary.devices) {
      json["gpus"].push_back(
          {{"name", device.name},
           {"jobs", device.jobs},
           {"busy_s", to_seconds(device.busy)},
           {"utilization",
            device.mean_utilization ? OrderedJson(*device.mean_utilization) : OrderedJson()},
           {"peak_memory_bytes", device.peak_memory.count},
           {"energy_j", device.energy ? OrderedJson(*device.energy) : OrderedJson()}});
    }
    print(json);
  }
};

}  // namespace

std::unique_ptr<RunObserver> make_json_reporter() { return std::make_unique<JsonReporter>(); }

}  // namespace berth
