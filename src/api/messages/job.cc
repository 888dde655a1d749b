#include "api/messages/job.h"

#include "api/messages/description.h"
#include "api/messages/fields.h"

namespace berth {
namespace {

/// null where it has not come yet.
std::optional<double> known(double time) { return time > 0 ? std::optional(time) : std::nullopt; }
std::optional<pid_t> known(pid_t pid) { return pid > 0 ? std::optional(pid) : std::nullopt; }

void wish(FieldsOut& io, const JobDescription& job) { write_wish(io.out(), job); }

void wish(FieldsIn& io, JobDescription& job) {
  FieldReader reader(io.json());
  read_wish(reader, job);
  if (const Error* error = reader.error()) {
    io.wrong(error->message);
  }
}

}  // namespace

/// A time, or a process, that may not be there yet.
template <class Io, class T>
void not_yet(Io& io, const char* key, T& value) {
  if constexpr (Io::kReads) {
    io.or_null(key, value);
  } else {
    io.or_null(key, known(value));
  }
}

template <class Io>
void fields(Io& io, In<Io, AttemptReport>& attempt) {
  io.required("attempt", attempt.attempt);
  io.field("gpus", attempt.gpus);
  not_yet(io, "pid", attempt.pid);
  not_yet(io, "started", attempt.started);
  not_yet(io, "ended", attempt.ended);
  io.or_null("outcome", attempt.outcome);
  io.or_null("exit_code", attempt.exit_code);
  io.or_null("signal", attempt.signal);
  io.or_null("reason", attempt.reason);
  io.field("peak_memory_bytes", attempt.peak);
  io.field("peak_memory_bytes_by_gpu", attempt.peaks);
  io.field("log", attempt.log);
  io.field("error_log", attempt.error_log);
}

template <class Io>
void fields(Io& io, In<Io, PromiseReport>& promise) {
  io.or_nothing("passed_until", promise.passed_until);
  io.or_nothing("window_s", promise.window_s);
  io.or_nothing("length_s", promise.length_s);
  io.or_nothing("start", promise.start);
}

/// What a job asks for stands among what is told of it.
template <class Io>
void fields(Io& io, In<Io, JobReport>& report) {
  io.required("id", report.id);
  io.field("name", report.description.name);
  io.field("project", report.description.project);
  io.field("user", report.description.user);
  io.field("state", report.state);
  io.field("attempt", report.attempt);
  io.field("gpus", report.gpus);
  not_yet(io, "pid", report.pid);
  io.or_null("exit_code", report.exit_code);
  io.or_null("signal", report.signal);
  io.or_null("reason", report.reason);
  not_yet(io, "submitted", report.submitted);
  not_yet(io, "started", report.started);
  not_yet(io, "ended", report.ended);
  io.or_null("log", report.log);
  wish(io, report.description);
  io.or_nothing("node", report.node);
  io.or_nothing("slurm_job", report.slurm_job);
  io.or_nothing("paused", report.paused);
  io.or_nothing("expected_start", report.expected_start);
  io.or_nothing("expected_start_from", report.expected_start_from);
  io.or_nothing("expected_start_to", report.expected_start_to);
  io.or_nothing("expected_start_coverage", report.expected_start_coverage);
  io.or_nothing("expected_end", report.expected_end);
  io.or_nothing("peak_memory_bytes", report.peak);
  io.or_nothing("gpu_seconds", report.gpu_seconds);
  io.or_nothing("energy_j", report.energy);
  io.or_nothing("attempts", report.attempts);
  io.or_nothing("why", report.why);
  io.or_nothing("promise", report.promise);
  io.or_nothing("claim_runs", report.claim_runs);
  io.or_nothing("claim_runs_needed", report.claim_runs_needed);
  io.or_nothing("environment", report.environment);
}

template <class Io>
void fields(Io& io, In<Io, JobsReply>& reply) {
  io.version();
  io.required("jobs", reply.jobs);
  io.or_nothing("next", reply.next);
}

std::string to_json(const JobReport& report) {
  JsonWriter json;
  json.object([&] {
    FieldsOut io(json);
    io.version();
    fields(io, report);
  });
  return json.take();
}

Result<JobReport> parse_job_report(std::string_view json) { return read_message<JobReport>(json); }

std::string to_json(const JobsReply& reply) { return written(reply); }
Result<JobsReply> parse_jobs_reply(std::string_view json) { return read_message<JobsReply>(json); }

}  // namespace berth
