#include "api/messages/whatif.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/messages/fields.h"
#include "api/messages/json.h"

namespace berth {
namespace {

constexpr std::size_t kMostPolicies = 20;
constexpr std::size_t kLongestName = 100;

/// Letters, digits and what stands between them in `2x8x80GiB:a100+4:t4@0.4`.
bool is_plain(const std::string& word) {
  constexpr std::string_view kBetween = ":+@._";
  return word.size() <= kLongestName && !word.ends_with(".csv") &&
         std::all_of(word.begin(), word.end(), [&](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  kBetween.find(c) != kBetween.npos;
         });
}

}  // namespace

Result<WhatifRequest> parse_whatif_request(std::string_view text) {
  const Result<Json> json = parse_object(text);
  if (!json) {
    return Failure(json.error());
  }
  WhatifRequest request;
  for (const auto& [key, value] : json->items()) {
    if (key == "policies") {
      if (!value.is_array() || value.size() > kMostPolicies) {
        return wrong_field(key, fmt::format("a list of up to {} names", kMostPolicies));
      }
      for (const Json& name : value) {
        if (!name.is_string() || name.get_ref<const std::string&>().empty() ||
            !is_plain(name.get<std::string>())) {
          return wrong_field(key, "a list of names (GET /v1/policies has them)");
        }
        request.policies.push_back(name.get<std::string>());
      }
    } else if (key == "queue") {
      if (!value.is_boolean()) {
        return wrong_field(key, "true or false");
      }
      request.queue = value.get<bool>();
    } else if (key == "gpus") {
      if (!value.is_string() || !is_plain(value.get<std::string>())) {
        return wrong_field(key, "devices like 8, 2x8 or 2x8x80GiB:a100+4:t4@0.4");
      }
      request.gpus = value.get<std::string>();
    } else {
      return fail(ErrorCode::Usage, fmt::format("there is no field '{}'", key));
    }
  }
  return request;
}

void fields(FieldsOut& io, const WhatifFigures& figures) {
  for (const auto& [name, value] : figures.values) {
    io.field(name.c_str(), value);
  }
}

/// All numbers that nothing else has claimed.
void fields(FieldsIn& io, WhatifFigures& figures) {
  for (const auto& [name, value] : io.json().items()) {
    if (value.is_number() && name != "jobs" && name != "runs") {
      figures.values.emplace_back(name, value.get<double>());
    }
  }
}

void fields(FieldsOut& io, const WhatifReply::Span& span) {
  const Result<std::int64_t> number = parse_integer(span.job, "a job");
  number ? io.field("job", *number) : io.field("job", span.job);
  io.field("gpus", span.gpus);
  io.field("from", span.from);
  io.field("to", span.to);
}

void fields(FieldsIn& io, WhatifReply::Span& span) {
  const auto job = io.json().find("job");
  if (job == io.json().end() || !(job->is_string() || job->is_number_integer())) {
    return io.wrong("job must be a number or a name");
  }
  span.job = job->is_string() ? job->get<std::string>() : job->dump();
  io.field("gpus", span.gpus);
  io.field("from", span.from);
  io.field("to", span.to);
}

template <class Io>
void fields(Io& io, In<Io, WhatifReply::Row>& row) {
  io.required("policy", row.policy);
  io.field("placement", row.placement);
  io.field("jobs", row.jobs);
  io.field("runs", row.runs);
  io.among(row.figures);
  io.or_nothing("ci95", row.ci95);
  io.or_nothing("spans", row.spans);
}

template <class Io>
void fields(Io& io, In<Io, WhatifReply>& reply) {
  io.version();
  io.field("gpus", reply.gpus);
  io.field("skipped_rows", reply.skipped_rows);
  io.required("results", reply.results);
}

std::string to_json(const WhatifReply& reply) { return written(reply); }
Result<WhatifReply> parse_whatif_reply(std::string_view json) {
  return read_message<WhatifReply>(json);
}

}  // namespace berth
