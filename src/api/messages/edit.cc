#include "api/messages/edit.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/messages/description.h"

namespace berth {

std::string to_json(const EditRequest& request) {
  JsonWriter json;
  const auto say = [&](const char* key, const auto& value) {
    if (value) {
      json.field(key, *value);
    }
  };
  const auto say_seconds = [&](const char* key, const std::optional<Duration>& length) {
    if (length) {
      json.field(key, to_seconds(*length));
    }
  };
  json.object([&] {
    say("name", request.name);
    say("command", request.command);
    say("priority", request.priority);
    say("weight", request.weight);
    say("gpus_needed", request.gpus_needed);
    say("mem", request.mem);
    if (request.claim) {
      json.field("claim", claim_source_name(*request.claim));
    }
    say("share", request.share);
    say("mps", request.mps);
    say("thread_percentage", request.thread_percentage);
    say("model", request.model);
    say("only", request.only);
    say("exclude", request.exclude);
    say("prefer", request.prefer);
    say_seconds("timeout_s", request.timeout);
    say_seconds("expected_s", request.expected);
    if (request.begin) {
      json.field("begin", to_seconds(request.begin->time_since_epoch()));
    }
    say("on", request.on);
    say("retries", request.retries);
    say_seconds("backoff_s", request.backoff);
    say("retry_on", request.retry_on);
    say_seconds("warning_before_s", request.warning_before);
  });
  return json.take();
}

struct JobEdit::Fields {
  Json json;
};

Result<JobEdit> JobEdit::parse(std::string_view text) {
  Result<Json> json = parse_object(text);
  if (!json) {
    return Failure(json.error());
  }
  for (const auto& [key, value] : json->items()) {
    constexpr std::string_view kEditable[] = {"name",        "command",
                                              "priority",    "weight",
                                              "gpus_needed", "gpus",
                                              "mem",         "claim",
                                              "share",       "model",
                                              "only",        "exclude",
                                              "prefer",      "timeout_s",
                                              "expected_s",  "begin",
                                              "retries",     "backoff_s",
                                              "retry_on",    "warning_before_s",
                                              "mps",         "thread_percentage",
                                              "on",          "cluster_options"};
    if (std::find(std::begin(kEditable), std::end(kEditable), key) == std::end(kEditable)) {
      return fail(ErrorCode::Usage, fmt::format("{} cannot be changed once a job is queued", key));
    }
  }
  JobEdit edit;
  edit.fields_ = std::make_shared<const Fields>(Fields{std::move(*json)});
  JobDescription any;
  any.command = "true";
  if (const Result<void> applied = edit.apply(any); !applied) {
    return Failure(applied.error());
  }
  return edit;
}

Result<void> JobEdit::apply(JobDescription& job) const {
  if (Result<void> read = read_description(fields_->json, job); !read) {
    return read;
  }
  job.spec.needs.settle();
  if (job.command.empty()) {
    return fail(ErrorCode::Usage, "a job without a command cannot run");
  }
  return {};
}

}  // namespace berth
