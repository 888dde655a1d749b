#include "api/messages/description.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/messages/job.h"
#include "base/bounds.h"
#include "core/job_bounds.h"

namespace berth {
namespace {

void write_needs(JsonWriter& out, const Needs& needs) {
  out.field("gpus_needed", needs.gpus);
  if (needs.memory > Bytes{}) {
    out.field("mem", needs.memory);
  }
  out.field("claim", claim_source_name(needs.claim));
  if (needs.profile > Duration{}) {
    out.field("profile_s", to_seconds(needs.profile));
  }
  if (needs.share > 0) {
    out.field("share", needs.share);
  }
  if (needs.mps != 0) {
    out.field("mps", true);
  }
  if (needs.thread_percentage > 0) {
    out.field("thread_percentage", needs.thread_percentage);
  }
  if (!needs.model.empty()) {
    out.field("model", needs.model);
  }
  for (const auto& [key, names] :
       {std::pair{"only", &needs.only}, {"exclude", &needs.exclude}, {"prefer", &needs.prefer}}) {
    if (!names->empty()) {
      out.field(key, *names);
    }
  }
}

/// Where the job runs, if not on this machine's devices alone.
void write_target(JsonWriter& out, const Needs& needs) {
  if (needs.away() || !needs.spill.empty()) {
    out.field("on", needs.away() ? needs.target : "auto");
  }
  if (!needs.target_options.empty()) {
    out.field("cluster_options", needs.target_options);
  }
}

/// `local`, `auto`, or a cluster's name.
void read_target(FieldReader& reader, Needs& needs) {
  std::string on;
  reader.text("on", on);
  if (!on.empty()) {
    needs.target = on == "local" || on == "auto" ? "" : on;
    needs.spill = on == "auto" ? "slurm" : "";
  }
  reader.texts("cluster_options", needs.target_options);
}

void write_retries(JsonWriter& out, const RetryRule& retry) {
  out.field("retries", retry.most);
  out.field("backoff_s", to_seconds(retry.backoff));
  out.array("retry_on", [&] {
    if (retry.on_failure) {
      out.value("failed");
    }
    if (retry.on_time_limit) {
      out.value("timed_out");
    }
  });
}

void read_dependencies(FieldReader& reader, std::vector<Dependency>& after) {
  std::vector<std::string> words;
  reader.texts("after", words);
  if (!words.empty()) {
    after.clear();
  }
  for (const std::string& word : words) {
    const auto dependency = read_after(word);
    if (!dependency || dependency->second == 0) {
      return reader.wrong("after", "a list such as [\"ok:12\", \"any:13\"]");
    }
    after.push_back({JobId{dependency->second}, dependency->first});
  }
}

/// Through MPS as root would; whoever knows whose job it is puts that right.
void read_mps(FieldReader& reader, Needs& needs) {
  bool mps = needs.mps != 0;
  reader.flag("mps", mps);
  needs.thread_percentage = mps ? needs.thread_percentage : 0;
  reader.number("thread_percentage", needs.thread_percentage, 0, 100);
  needs.mps = mps || needs.thread_percentage > 0 ? std::max(needs.mps, mps_of(0)) : 0;
}

/// A size alone is a given claim.
void read_claim(FieldReader& reader, Needs& needs) {
  const Bytes before = needs.memory;
  reader.number("mem", needs.memory.count, 0, std::int64_t{1} << 60);
  if (needs.memory != before) {
    needs.claim = needs.memory > Bytes{} ? ClaimSource::Given : ClaimSource::Learned;
  }
  reader.seconds("profile_s", needs.profile);
  std::string source;
  reader.text("claim", source);
  for (const ClaimSource known : {ClaimSource::Learned, ClaimSource::Given, ClaimSource::None}) {
    if (source == claim_source_name(known)) {
      needs.claim = known;
    }
  }
}

void read_causes(FieldReader& reader, RetryRule& retry) {
  std::vector<std::string> causes{"?"};
  reader.texts("retry_on", causes);
  if (causes == std::vector<std::string>{"?"}) {
    return;  // not given
  }
  retry.on_failure = false;
  retry.on_time_limit = false;
  for (const std::string& cause : causes) {
    if (cause == "failed") {
      retry.on_failure = true;
    } else if (cause == "timed_out") {
      retry.on_time_limit = true;
    } else {
      return reader.wrong("retry_on", "a list of failed and timed_out");
    }
  }
}

}  // namespace

std::string_view when_name(Dependency::When when) {
  switch (when) {
    case Dependency::When::Ok:
      return "ok";
    case Dependency::When::Any:
      return "any";
    case Dependency::When::NotOk:
      return "notok";
  }
  return "";
}

std::optional<std::pair<Dependency::When, std::uint64_t>> read_after(const std::string& word) {
  const std::size_t colon = word.find(':');
  const std::string_view when =
      colon == std::string::npos ? "ok" : std::string_view(word).substr(0, colon);
  const Result<std::int64_t> number =
      parse_integer(colon == std::string::npos ? word : word.substr(colon + 1), "the job");
  if (!number || *number < 0) {
    return std::nullopt;
  }
  for (const Dependency::When known :
       {Dependency::When::Ok, Dependency::When::Any, Dependency::When::NotOk}) {
    if (when == when_name(known)) {
      return std::pair(known, static_cast<std::uint64_t>(*number));
    }
  }
  return std::nullopt;
}

void write_wish(JsonWriter& out, const JobDescription& job) {
  const JobSpec& spec = job.spec;
  write_needs(out, spec.needs);
  write_target(out, spec.needs);
  for (const auto& [key, text] : {std::pair{"command", &job.command},
                                  {"directory", &job.directory},
                                  {"output", &job.output},
                                  {"error", &job.error},
                                  {"sweep", &job.sweep}}) {
    if (!text->empty()) {
      out.field(key, *text);
    }
  }
  if (spec.priority != 0) {
    out.field("priority", spec.priority);
  }
  if (spec.weight != 1) {
    out.field("weight", spec.weight);
  }
  if (spec.limit != kForever) {
    out.field("timeout_s", to_seconds(spec.limit));
  }
  if (spec.expected != kForever) {
    out.field("expected_s", to_seconds(spec.expected));
  }
  if (spec.begin != Time{}) {
    out.field("begin", to_seconds(spec.begin.time_since_epoch()));
  }
  if (spec.retry.most > 0) {
    write_retries(out, spec.retry);
  }
  if (!spec.after.empty()) {
    out.array("after", [&] {
      for (const Dependency& after : spec.after) {
        out.value(fmt::format("{}:{}", when_name(after.when), after.job.value));
      }
    });
  }
  if (spec.held) {
    out.field("held", true);
  }
  if (!job.labels.empty()) {
    out.field("labels", job.labels);
  }
  if (!job.parameters.empty()) {
    out.field("parameters", job.parameters);
  }
  if (job.array_index) {
    out.field("array_index", *job.array_index);
  }
  if (job.warning_signal != 0) {
    out.field("warning_signal", job.warning_signal);
    out.field("warning_before_s", to_seconds(spec.warn_before));
  }
  if (spec.retry.when_lost) {
    out.field("requeue_when_lost", true);
  }
}

void write_description(JsonWriter& out, const JobDescription& job) {
  if (!job.name.empty()) {
    out.field("name", job.name);
  }
  if (!job.project.empty()) {
    out.field("project", job.project);
  }
  write_wish(out, job);
  if (!job.environment.empty()) {
    out.field("environment", job.environment);
  }
}

void read_wish(FieldReader& reader, JobDescription& job) {
  JobSpec& spec = job.spec;
  reader.number("gpus_needed", spec.needs.gpus, 0, kMostGpus);
  read_claim(reader, spec.needs);
  reader.number("share", spec.needs.share, 0, kWholeShare);
  read_mps(reader, spec.needs);
  reader.text("model", spec.needs.model);
  reader.names("only", spec.needs.only);
  reader.names("exclude", spec.needs.exclude);
  reader.names("prefer", spec.needs.prefer);
  read_target(reader, spec.needs);
  reader.text("name", job.name);
  reader.text("project", job.project);
  reader.text("command", job.command);
  reader.text("directory", job.directory);
  reader.text("output", job.output);
  reader.text("error", job.error);
  reader.text("sweep", job.sweep);
  reader.number("priority", spec.priority, -kMostPriority, kMostPriority);
  reader.number("weight", spec.weight, 1, kMostWeight);
  reader.seconds("timeout_s", spec.limit);
  reader.seconds("expected_s", spec.expected);
  for (Duration* length : {&spec.limit, &spec.expected}) {
    *length = *length == Duration{} ? kForever : *length;
  }
  Duration begin = spec.begin.time_since_epoch();
  reader.seconds("begin", begin);
  spec.begin = Time(begin);
  reader.number("retries", spec.retry.most, 0, kMostRetries);
  reader.seconds("backoff_s", spec.retry.backoff);
  read_causes(reader, spec.retry);
  read_dependencies(reader, spec.after);
  reader.flag("held", spec.held);
  reader.pairs("labels", job.labels);
  reader.pairs("parameters", job.parameters);
  std::int64_t index = -1;
  reader.number("array_index", index, 0, kMostArrayIndex);
  if (index >= 0) {
    job.array_index = static_cast<std::uint32_t>(index);
  }
  reader.number("warning_signal", job.warning_signal, 0, 64);
  reader.seconds("warning_before_s", spec.warn_before);
  reader.flag("requeue_when_lost", spec.retry.when_lost);
}

Result<void> read_description(const Json& json, JobDescription& job, std::size_t elsewhere) {
  if (!json.is_object()) {
    return fail(ErrorCode::Usage, "it must be an object");
  }
  FieldReader reader(json);
  // As earlier clients say it; in reports `gpus` is a list of names.
  reader.number("gpus", job.spec.needs.gpus, 0, kMostGpus);
  read_wish(reader, job);
  reader.texts("environment", job.environment);
  reader.check_no_others(elsewhere);
  if (const Error* error = reader.error()) {
    return Failure(*error);
  }
  return check_bounds(job);
}

}  // namespace berth
