#include "api/messages.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) {
  // What a user typed need not be UTF-8; JSON must be.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// --- writing

Json needs_json(const Needs& needs) {
  Json json;
  json["gpus"] = needs.gpus;
  if (needs.memory > Bytes{}) {
    json["mem"] = needs.memory.count;
  }
  if (needs.share > 0) {
    json["share"] = needs.share;
  }
  if (!needs.model.empty()) {
    json["model"] = needs.model;
  }
  for (const auto& [key, names] :
       {std::pair{"only", &needs.only}, {"exclude", &needs.exclude}, {"prefer", &needs.prefer}}) {
    if (!names->empty()) {
      json[key] = *names;
    }
  }
  return json;
}

std::string_view word_for(Dependency::When when) {
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

/// Only what differs from a job about which nothing was said.
Json description_json(const JobDescription& job) {
  const JobSpec& spec = job.spec;
  Json json = needs_json(spec.needs);
  const auto text = [&](const char* key, const std::string& value) {
    if (!value.empty()) {
      json[key] = value;
    }
  };
  text("name", job.name);
  text("project", job.project);
  text("command", job.command);
  text("directory", job.directory);
  text("output", job.output);
  text("error", job.error);
  text("sweep", job.sweep);
  if (spec.priority != 0) {
    json["priority"] = spec.priority;
  }
  if (spec.limit != kForever) {
    json["timeout_s"] = to_seconds(spec.limit);
  }
  if (spec.expected != kForever) {
    json["expected_s"] = to_seconds(spec.expected);
  }
  if (spec.begin != Time{}) {
    json["begin"] = to_seconds(spec.begin.time_since_epoch());
  }
  if (spec.retry.most > 0) {
    json["retries"] = spec.retry.most;
    json["backoff_s"] = to_seconds(spec.retry.backoff);
  }
  for (const Dependency& after : spec.after) {
    json["after"].push_back(fmt::format("{}:{}", word_for(after.when), after.job.value));
  }
  if (spec.held) {
    json["held"] = true;
  }
  if (!job.labels.empty()) {
    json["labels"] = job.labels;
  }
  if (!job.parameters.empty()) {
    json["parameters"] = job.parameters;
  }
  if (job.array_index) {
    json["array_index"] = *job.array_index;
  }
  if (job.warning_signal != 0) {
    json["warning_signal"] = job.warning_signal;
    json["warning_before_s"] = to_seconds(job.warning_before);
  }
  if (job.requeue_when_lost) {
    json["requeue_when_lost"] = true;
  }
  if (!job.environment.empty()) {
    json["environment"] = job.environment;
  }
  return json;
}

// --- reading

/// Collects the first thing that is wrong, so that reading a field stays one line.
class FieldReader {
 public:
  explicit FieldReader(const Json& json) : json_(json) {}

  const Error* error() const { return error_ ? &*error_ : nullptr; }

  void text(const char* key, std::string& out) {
    if (const Json* field = find(key)) {
      if (field->is_string()) {
        out = field->get<std::string>();
      } else {
        wrong(key, "a text");
      }
    }
  }

  template <class T>
  void number(const char* key, T& out, std::int64_t least, std::int64_t most) {
    if (const Json* field = find(key)) {
      if (!field->is_number_integer() || field->get<std::int64_t>() < least ||
          field->get<std::int64_t>() > most) {
        wrong(key, fmt::format("a whole number from {} to {}", least, most));
      } else {
        out = static_cast<T>(field->get<std::int64_t>());
      }
    }
  }

  void seconds(const char* key, Duration& out) {
    constexpr double kMost = 9e9;
    if (const Json* field = find(key)) {
      if (!field->is_number() || field->get<double>() < 0 || field->get<double>() > kMost) {
        wrong(key, "a number of seconds");
      } else {
        out = Duration(static_cast<std::int64_t>(field->get<double>() * 1e9));
      }
    }
  }

  void flag(const char* key, bool& out) {
    if (const Json* field = find(key)) {
      if (field->is_boolean()) {
        out = field->get<bool>();
      } else {
        wrong(key, "true or false");
      }
    }
  }

  void texts(const char* key, std::vector<std::string>& out) {
    if (const Json* field = find(key)) {
      out.clear();
      if (!field->is_array()) {
        return wrong(key, "a list of texts");
      }
      for (const Json& item : *field) {
        if (!item.is_string()) {
          return wrong(key, "a list of texts");
        }
        out.push_back(item.get<std::string>());
      }
    }
  }

  void pairs(const char* key, std::map<std::string, std::string>& out) {
    if (const Json* field = find(key)) {
      out.clear();
      if (!field->is_object()) {
        return wrong(key, "an object of texts");
      }
      for (const auto& [name, value] : field->items()) {
        if (!value.is_string()) {
          return wrong(key, "an object of texts");
        }
        out[name] = value.get<std::string>();
      }
    }
  }

  void wrong(const char* key, std::string_view wanted) {
    if (!error_) {
      error_ = Error{ErrorCode::Usage, fmt::format("{} must be {}", key, wanted)};
    }
  }

 private:
  const Json* find(const char* key) const {
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }

  const Json& json_;
  std::optional<Error> error_;
};

void read_dependencies(FieldReader& reader, std::vector<Dependency>& after) {
  std::vector<std::string> words;
  reader.texts("after", words);
  if (!words.empty()) {
    after.clear();
  }
  for (const std::string& word : words) {
    const std::size_t colon = word.find(':');
    const std::string_view when = std::string_view(word).substr(0, std::min(colon, word.size()));
    const Result<std::int64_t> job =
        parse_integer(colon == std::string::npos ? word : word.substr(colon + 1), "the job");
    Dependency dependency;
    if (colon == std::string::npos || when == "ok") {
      dependency.when = Dependency::When::Ok;
    } else if (when == "any") {
      dependency.when = Dependency::When::Any;
    } else if (when == "notok") {
      dependency.when = Dependency::When::NotOk;
    } else {
      return reader.wrong("after", "a list such as [\"ok:12\", \"any:13\"]");
    }
    if (!job || *job < 1) {
      return reader.wrong("after", "a list such as [\"ok:12\", \"any:13\"]");
    }
    dependency.job = JobId{static_cast<std::uint64_t>(*job)};
    after.push_back(dependency);
  }
}

/// Over what `job` says already.
Result<void> read_description(const Json& json, JobDescription& job) {
  if (!json.is_object()) {
    return fail(ErrorCode::Usage, "it must be an object");
  }
  FieldReader reader(json);
  JobSpec& spec = job.spec;
  reader.number("gpus", spec.needs.gpus, 0, 1'000'000);
  reader.number("mem", spec.needs.memory.count, 0, std::int64_t{1} << 60);
  reader.number("share", spec.needs.share, 0, kWholeShare);
  reader.text("model", spec.needs.model);
  reader.texts("only", spec.needs.only);
  reader.texts("exclude", spec.needs.exclude);
  reader.texts("prefer", spec.needs.prefer);
  reader.text("name", job.name);
  reader.text("project", job.project);
  reader.text("command", job.command);
  reader.text("directory", job.directory);
  reader.text("output", job.output);
  reader.text("error", job.error);
  reader.text("sweep", job.sweep);
  reader.number("priority", spec.priority, -kMostPriority, kMostPriority);
  reader.seconds("timeout_s", spec.limit);
  reader.seconds("expected_s", spec.expected);
  Duration begin = spec.begin.time_since_epoch();
  reader.seconds("begin", begin);
  spec.begin = Time(begin);
  reader.number("retries", spec.retry.most, 0, 10'000);
  reader.seconds("backoff_s", spec.retry.backoff);
  read_dependencies(reader, spec.after);
  reader.flag("held", spec.held);
  reader.pairs("labels", job.labels);
  reader.pairs("parameters", job.parameters);
  std::uint32_t index = job.array_index.value_or(0);
  if (json.contains("array_index")) {
    reader.number("array_index", index, 0, 1'000'000'000);
    job.array_index = index;
  }
  reader.number("warning_signal", job.warning_signal, 0, 64);
  reader.seconds("warning_before_s", job.warning_before);
  reader.flag("requeue_when_lost", job.requeue_when_lost);
  reader.texts("environment", job.environment);
  if (const Error* error = reader.error()) {
    return Failure(*error);
  }
  return {};
}

Result<Json> parse(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) {
    return fail(ErrorCode::Usage, "the body is not a JSON object");
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
  if (!report.why.empty()) {
    json["why"] = report.why;
  }
  return json;
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
  json["defaults"] = description_json(submission.defaults);
  json["jobs"] = Json::array();
  for (const JobDescription& job : submission.jobs) {
    json["jobs"].push_back(description_json(job));
  }
  return text_of(json);
}

Result<SubmitRequest> parse_submit_request(std::string_view text) {
  const Result<Json> json = parse(text);
  if (!json) {
    return Failure(json.error());
  }
  SubmitRequest submission;
  if (const auto token = json->find("token"); token != json->end()) {
    if (!token->is_string()) {
      return fail(ErrorCode::Usage, "token must be a text");
    }
    submission.token = token->get<std::string>();
  }
  if (const auto defaults = json->find("defaults"); defaults != json->end()) {
    if (const Result<void> read = read_description(*defaults, submission.defaults); !read) {
      return fail(read.error().code, "defaults: " + read.error().message);
    }
  }
  const auto jobs = json->find("jobs");
  if (jobs == json->end() || !jobs->is_array() || jobs->empty()) {
    return fail(ErrorCode::Usage, "jobs must be a list of at least one job");
  }
  JobDescription blank = submission.defaults;
  blank.environment.clear();
  submission.jobs.reserve(jobs->size());
  for (const Json& item : *jobs) {
    JobDescription& job = submission.jobs.emplace_back(blank);
    if (const Result<void> read = read_description(item, job); !read) {
      return fail(read.error().code,
                  fmt::format("job {}: {}", submission.jobs.size(), read.error().message));
    }
    if (job.command.empty()) {
      return fail(ErrorCode::Usage,
                  fmt::format("job {}: it has no command", submission.jobs.size()));
    }
  }
  return submission;
}

std::string to_json(const SubmitReply& reply) {
  return fmt::format(R"({{"version":1,"first":{},"count":{}}})", reply.first.value, reply.count);
}

Result<SubmitReply> parse_submit_reply(std::string_view text) {
  const Result<Json> json = parse(text);
  if (!json || !json->contains("first") || !json->contains("count")) {
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

std::string error_json(const Error& error) {
  Json json;
  json["version"] = 1;
  json["error"] = {{"code", name_of(error.code)}, {"message", error.message}};
  return text_of(json);
}

Error parse_error(std::string_view text, int status) {
  const Result<Json> json = parse(text);
  if (json && json->contains("error") && (*json)["error"].is_object()) {
    const Json& error = (*json)["error"];
    const std::string name = error.value("code", "");
    for (const ErrorCode code : {ErrorCode::Usage, ErrorCode::NotFound, ErrorCode::Refused,
                                 ErrorCode::Io, ErrorCode::Unavailable, ErrorCode::Timeout}) {
      if (name == name_of(code)) {
        return {code, error.value("message", "")};
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
