#include "api/messages/submit.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/json_parts.h"
#include "api/messages/description.h"
#include "api/messages/fields.h"
#include "api/messages/job.h"
#include "base/bounds.h"
#include "core/job_bounds.h"

namespace berth {
namespace {

void write_submitted(JsonWriter& json, const SubmittedJob& job) {
  write_description(json, job.description);
  if (job.count != 1) {
    json.field("array", job.count);
  }
  if (!job.follows.empty()) {
    json.array("follows", [&] {
      for (const LocalDependency& follows : job.follows) {
        json.value(fmt::format("{}:{}", when_name(follows.when), follows.position));
      }
    });
  }
}

/// `position` is that of the job in its submission, from 0.
Result<void> read_submitted(const Json& json, SubmittedJob& job, std::size_t position) {
  if (json.contains("environment")) {
    return fail(ErrorCode::Usage, "environment is the same for all jobs: say it in defaults");
  }
  const auto own = std::count_if(kOnlySubmitted.begin(), kOnlySubmitted.end(),
                                 [&](std::string_view key) { return json.contains(key); });
  if (Result<void> read = read_description(json, job.description, static_cast<std::size_t>(own));
      !read) {
    return read;
  }
  job.description.spec.needs.settle();
  FieldReader reader(json);
  reader.number("array", job.count, 1, kMostInArray);
  if (job.count != 1 && !job.description.array_index) {
    job.description.array_index = 0;
  }
  if (job.description.array_index.value_or(0) + std::int64_t{job.count} - 1 > kMostArrayIndex) {
    reader.wrong("array", fmt::format("so short that its indices end at {}", kMostArrayIndex));
  }
  std::vector<std::string> words;
  reader.texts("follows", words);
  for (const std::string& word : words) {
    const std::optional<std::pair<Dependency::When, std::uint64_t>> follows = read_after(word);
    if (!follows || follows->second >= position) {
      reader.wrong("follows", "a list of earlier jobs of this submission, such as [\"ok:0\"]");
      break;
    }
    job.follows.push_back({follows->second, follows->first});
  }
  if (job.follows.size() > kMostFollowed) {
    reader.wrong("follows", fmt::format("a list of at most {} jobs", kMostFollowed));
  }
  if (const Error* error = reader.error()) {
    return Failure(*error);
  }
  return {};
}

/// The fields of a submission, each as the text it stands in.
struct SubmissionFields {
  std::string_view token;
  std::string_view defaults;
  std::string_view environment_from;
  std::string_view continues;
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
                             : key == "continues"        ? &fields.continues
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

}  // namespace

template <class Io>
void fields(Io& io, In<Io, SubmitReply>& reply) {
  io.version();
  io.required("first", reply.first);
  io.required("count", reply.count);
  io.or_nothing("note", reply.note);
}

std::string to_json(const SubmitRequest& submission) {
  JsonWriter json;
  json.object([&] {
    if (!submission.token.empty()) {
      json.field("token", submission.token);
    }
    if (submission.environment_from) {
      const std::uint64_t job = submission.environment_from->value;
      job == 0 ? json.field("environment_from", "daemon") : json.field("environment_from", job);
    }
    if (submission.continues) {
      json.field("continues", true);
    }
    // Jobs say everything else themselves. Of what is usual they say nothing, so that defaults
    // beside them would be taken for theirs.
    if (!submission.defaults.environment.empty()) {
      json.object("defaults", [&] { json.field("environment", submission.defaults.environment); });
    }
    json.array("jobs", [&] {
      for (const SubmittedJob& job : submission.jobs) {
        json.object([&] { write_submitted(json, job); });
      }
    });
  });
  return json.take();
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
  if (!fields->continues.empty()) {
    if (fields->continues != "true" && fields->continues != "false") {
      return wrong_field("continues", "true or false");
    }
    submission.continues = fields->continues == "true";
  }
  if (const Result<void> read = read_jobs(fields->jobs, patience, submission); !read) {
    return Failure(read.error());
  }
  return submission;
}

std::string to_json(const SubmitReply& reply) { return written(reply); }
Result<SubmitReply> parse_submit_reply(std::string_view json) {
  return read_message<SubmitReply>(json);
}

}  // namespace berth
