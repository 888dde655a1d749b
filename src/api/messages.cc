#include "api/messages.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/job_bounds.h"
#include "api/json_parts.h"
#include "api/messages_json.h"
#include "base/bounds.h"

namespace berth {
namespace {

Json sizes_json(const std::vector<Bytes>& sizes) {
  Json json = Json::array();
  for (const Bytes& size : sizes) {
    json.push_back(size.count);
  }
  return json;
}

Json report_json(const JobReport& report) {
  Json json;
  json["id"] = report.id.value;
  json.update(description_json(report.description));
  json.erase("environment");
  const auto or_null = [](double time) { return time > 0 ? Json(time) : Json(); };
  json["name"] = report.description.name;
  json["project"] = report.description.project;
  json["user"] = report.description.user;
  json["state"] = report.state;
  json["attempt"] = report.attempt;
  json["gpus_needed"] = report.description.spec.needs.gpus;
  json["gpus"] = report.gpus;
  json["pid"] = report.pid > 0 ? Json(report.pid) : Json();
  json["exit_code"] = report.exit_code ? Json(*report.exit_code) : Json();
  json["signal"] = report.signal ? Json(*report.signal) : Json();
  json["reason"] = report.reason.empty() ? Json() : Json(report.reason);
  json["submitted"] = or_null(report.submitted);
  json["started"] = or_null(report.started);
  json["ended"] = or_null(report.ended);
  json["log"] = report.log.empty() ? Json() : Json(report.log);
  if (report.paused) {
    json["paused"] = true;
  }
  if (report.expected_start > 0) {
    json["expected_start"] = report.expected_start;
  }
  if (report.expected_end > 0) {
    json["expected_end"] = report.expected_end;
  }
  if (report.peak > Bytes{}) {
    json["peak_memory_bytes"] = report.peak.count;
  }
  if (report.gpu_seconds > 0) {
    json["gpu_seconds"] = report.gpu_seconds;
  }
  if (report.energy) {
    json["energy_j"] = *report.energy;
  }
  for (const AttemptReport& attempt : report.attempts) {
    json["attempts"].push_back(
        {{"attempt", attempt.attempt},
         {"gpus", attempt.gpus},
         {"pid", attempt.pid > 0 ? Json(attempt.pid) : Json()},
         {"started", or_null(attempt.started)},
         {"ended", or_null(attempt.ended)},
         {"outcome", attempt.outcome.empty() ? Json() : Json(attempt.outcome)},
         {"exit_code", attempt.exit_code ? Json(*attempt.exit_code) : Json()},
         {"signal", attempt.signal ? Json(*attempt.signal) : Json()},
         {"reason", attempt.reason.empty() ? Json() : Json(attempt.reason)},
         {"peak_memory_bytes", attempt.peak.count},
         {"peak_memory_bytes_by_gpu", sizes_json(attempt.peaks)},
         {"log", attempt.log},
         {"error_log", attempt.error_log}});
  }
  if (!report.why.empty()) {
    json["why"] = report.why;
  }
  if (report.environment) {
    json["environment"] = *report.environment;
  }
  return json;
}

/// The fields of a submission, each as the text it stands in.
struct SubmissionFields {
  std::string_view token;
  std::string_view defaults;
  std::string_view environment_from;
  std::string_view jobs;
};

Result<SubmissionFields> fields_of(std::string_view text) {
  SubmissionFields fields;
  JsonParts members(text, JsonParts::Of::Object);
  while (members.next()) {
    const std::string key = key_of(members.key());
    std::string_view* part = key == "token"              ? &fields.token
                             : key == "defaults"         ? &fields.defaults
                             : key == "environment_from" ? &fields.environment_from
                             : key == "jobs"             ? &fields.jobs
                                                         : nullptr;
    if (part == nullptr) {
      return fail(ErrorCode::Usage, fmt::format("a submission has no field {}", shown(key)));
    }
    if (!part->empty()) {
      return fail(ErrorCode::Usage, fmt::format("{} is there twice", key));
    }
    *part = members.value();
  }
  if (members.failed()) {
    return fail(ErrorCode::Usage, "this is not a JSON object");
  }
  return fields;
}

Result<void> read_jobs(std::string_view text, const Patience& patience, SubmitRequest& submission) {
  constexpr std::size_t kLookEvery = 256;
  // Counted first: a list that grows takes up to three times its size.
  JsonParts items(text, JsonParts::Of::Array);
  std::size_t count = 0;
  while (count <= kMostJobs && items.next()) {
    ++count;
  }
  if (count == 0 || items.failed()) {
    return fail(ErrorCode::Usage, "jobs must be a list of at least one job");
  }
  if (count > kMostJobs) {
    return fail(ErrorCode::Usage, too_many_jobs());
  }
  SubmittedJob blank{submission.defaults, 1, {}};
  blank.description.environment.clear();
  submission.jobs.reserve(count);
  SubmissionMeter meter;
  for (items = JsonParts(text, JsonParts::Of::Array); items.next();) {
    const std::size_t number = submission.jobs.size() + 1;
    const auto wrong = [&](const Error& error) {
      return fail(error.code, fmt::format("job {}: {}", number, error.message));
    };
    if (number % kLookEvery == 0 && patience.over()) {
      return fail(ErrorCode::Timeout, "it took too long to read");
    }
    const Result<Json> item = parse_part(items.value(), items.extent(), kLongestMessage);
    if (!item) {
      return wrong(item.error());
    }
    SubmittedJob& job = submission.jobs.emplace_back(blank);
    if (const Result<void> read = read_submitted(*item, job, number - 1); !read) {
      return wrong(read.error());
    }
    if (job.description.command.empty()) {
      return wrong({ErrorCode::Usage, "it has no command"});
    }
    if (const Result<void> added = meter.add(job); !added) {
      return wrong(added.error());
    }
  }
  return {};
}

constexpr std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::Usage:
      return "usage";
    case ErrorCode::NotFound:
      return "not_found";
    case ErrorCode::Refused:
      return "refused";
    case ErrorCode::Io:
      return "io";
    case ErrorCode::Unavailable:
      return "unavailable";
    case ErrorCode::Timeout:
      return "timeout";
  }
  return "";
}

}  // namespace

std::string to_json(const SubmitRequest& submission) {
  Json json;
  if (!submission.token.empty()) {
    json["token"] = submission.token;
  }
  if (submission.environment_from) {
    const std::uint64_t job = submission.environment_from->value;
    json["environment_from"] = job == 0 ? Json("daemon") : Json(job);
  }
  json["defaults"] = description_json(submission.defaults);
  json["jobs"] = Json::array();
  for (const SubmittedJob& job : submission.jobs) {
    json["jobs"].push_back(submitted_json(job));
    if (submission.defaults.spec.needs.mps != 0 && job.description.spec.needs.mps == 0) {
      json["jobs"].back()["mps"] = false;
    }
    // What is usual is left out, but the defaults are not always that.
    if (submission.defaults.spec.priority != 0) {
      json["jobs"].back()["priority"] = job.description.spec.priority;
    }
    if (submission.defaults.spec.weight != 1) {
      json["jobs"].back()["weight"] = job.description.spec.weight;
    }
  }
  return text_of(json);
}

Result<SubmitRequest> parse_submit_request(std::string_view text, const Patience& patience) {
  const Result<SubmissionFields> fields = fields_of(text);
  if (!fields) {
    return Failure(fields.error());
  }
  SubmitRequest submission;
  if (!fields->token.empty()) {
    Result<std::string> token = read_token(fields->token);
    if (!token) {
      return Failure(token.error());
    }
    submission.token = std::move(*token);
  }
  if (!fields->defaults.empty()) {
    const Result<Json> defaults = parse_part(fields->defaults, kLongestDefaults);
    const Result<void> read = defaults ? read_description(*defaults, submission.defaults)
                                       : Result<void>(Failure(defaults.error()));
    if (!read) {
      return fail(read.error().code, "defaults: " + read.error().message);
    }
  }
  if (!fields->environment_from.empty()) {
    const Result<Json> from = parse_part(fields->environment_from, kLongestMessage);
    const Result<JobId> job =
        from ? read_environment_from(*from) : Result<JobId>(Failure(from.error()));
    if (!job) {
      return Failure(job.error());
    }
    submission.environment_from = *job;
  }
  if (const Result<void> read = read_jobs(fields->jobs, patience, submission); !read) {
    return Failure(read.error());
  }
  return submission;
}

std::string to_json(const SubmitReply& reply) {
  return fmt::format(R"({{"version":1,"first":{},"count":{}}})", reply.first.value, reply.count);
}

Result<SubmitReply> parse_submit_reply(std::string_view text) {
  const Result<Json> json = parse_object(text);
  const auto is_number = [&](const char* key) {
    return json->contains(key) && (*json)[key].is_number_unsigned();
  };
  if (!json || !is_number("first") || !is_number("count")) {
    return fail(ErrorCode::Unavailable, "the daemon's answer makes no sense");
  }
  return SubmitReply{JobId{(*json)["first"].get<std::uint64_t>()},
                     (*json)["count"].get<std::uint64_t>()};
}

std::string to_json(const JobReport& report) {
  Json json;
  json["version"] = 1;
  json.update(report_json(report));
  return text_of(json);
}

std::string to_json(const std::vector<JobReport>& reports, std::optional<JobId> next) {
  Json json;
  json["version"] = 1;
  json["jobs"] = Json::array();
  for (const JobReport& report : reports) {
    json["jobs"].push_back(report_json(report));
  }
  if (next) {
    json["next"] = next->value;
  }
  return text_of(json);
}

Result<std::string> parse_login_code(std::string_view text) {
  const Result<Json> json = parse_object(text);
  if (!json) {
    return Failure(json.error());
  }
  if (json->size() != 1 || !json->contains("code") || !(*json)["code"].is_string()) {
    return fail(ErrorCode::Usage, "to sign in takes one field, code: the one in berth ui's link");
  }
  return (*json)["code"].get<std::string>();
}

Result<void> read_edit(std::string_view text, JobDescription& job) {
  const Result<Json> json = parse_object(text);
  if (!json) {
    return Failure(json.error());
  }
  for (const auto& [key, value] : json->items()) {
    constexpr std::string_view kEditable[] = {"name",
                                              "command",
                                              "priority",
                                              "weight",
                                              "gpus",
                                              "mem",
                                              "claim",
                                              "share",
                                              "model",
                                              "only",
                                              "exclude",
                                              "prefer",
                                              "timeout_s",
                                              "expected_s",
                                              "begin",
                                              "retries",
                                              "backoff_s",
                                              "retry_on",
                                              "warning_before_s",
                                              "mps",
                                              "thread_percentage"};
    if (std::find(std::begin(kEditable), std::end(kEditable), key) == std::end(kEditable)) {
      return fail(ErrorCode::Usage, fmt::format("{} cannot be changed once a job is queued", key));
    }
  }
  if (Result<void> read = read_description(*json, job); !read) {
    return read;
  }
  if (job.command.empty()) {
    return fail(ErrorCode::Usage, "a job without a command cannot run");
  }
  return {};
}

std::string quote(std::string_view text) { return text_of(Json(text)); }

std::string error_json(const Error& error) {
  Json json;
  json["version"] = 1;
  json["error"] = {{"code", name_of(error.code)}, {"message", error.message}};
  return text_of(json);
}

Error parse_error(std::string_view text, int status) {
  const Result<Json> json = parse_object(text);
  if (json && json->contains("error") && (*json)["error"].is_object()) {
    const Json& error = (*json)["error"];
    const auto told = [&](const char* key) {
      const auto found = error.find(key);
      return found != error.end() && found->is_string() ? found->get<std::string>() : "";
    };
    const std::string name = told("code");
    for (const ErrorCode code : {ErrorCode::Usage, ErrorCode::NotFound, ErrorCode::Refused,
                                 ErrorCode::Io, ErrorCode::Unavailable, ErrorCode::Timeout}) {
      if (name == name_of(code)) {
        return {code, told("message")};
      }
    }
  }
  return {ErrorCode::Unavailable, fmt::format("the daemon answered with status {}", status)};
}

int http_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::Usage:
      return 400;
    case ErrorCode::NotFound:
      return 404;
    case ErrorCode::Refused:
      return 409;
    case ErrorCode::Io:
      return 500;
    case ErrorCode::Unavailable:
      return 503;
    case ErrorCode::Timeout:
      return 504;
  }
  return 500;
}

}  // namespace berth
