#include "store/fields.h"

#include <limits>

#include "store/coding.h"

namespace berth {
namespace {

/// Fields of encode_rest(). The numbers are on disk.
enum class Field : std::uint64_t {
  Output = 1,
  Error = 2,
  Labels = 3,
  Parameters = 4,
  WarningSignal = 5,
  WarnBefore = 6,  // written by format 1 only: it has a column since
  WhenLost = 7,    // likewise: it is in the retry rule since
};

void put(Encoder& out, Field field, std::string_view value) {
  out.number(static_cast<std::uint64_t>(field)).text(value);
}

void put_integer(Encoder& out, Field field, std::int64_t value) {
  put(out, field, Encoder().integer(value).bytes());
}

bool take(Field field, Decoder value, JobDescription& description) {
  switch (field) {
    case Field::Labels:
      description.labels = value.map();
      break;
    case Field::Parameters:
      description.parameters = value.map();
      break;
    case Field::WarningSignal:
      description.warning_signal = static_cast<int>(value.integer());
      break;
    case Field::WarnBefore:
      description.spec.warn_before = Duration(value.integer());
      break;
    case Field::WhenLost:
      description.spec.retry.when_lost = value.integer() != 0;
      break;
    case Field::Output:
    case Field::Error:
      break;  // plain text: the caller's
  }
  return !value.failed();
}

}  // namespace

std::string encode_needs(const Needs& needs) {
  Encoder out;
  out.number(needs.gpus)
      .number(needs.share)
      .integer(needs.memory.count)
      .text(needs.model)
      .list(needs.only)
      .list(needs.exclude)
      .list(needs.prefer)
      .number(static_cast<std::uint64_t>(needs.claim));
  const bool clusters = needs.away() || !needs.spill.empty();
  if (needs.mps != 0 || needs.profile != Duration{} || clusters) {
    out.number(needs.mps).number(needs.thread_percentage);
  }
  if (needs.profile != Duration{} || clusters) {
    out.integer(needs.profile.count());
  }
  if (clusters) {
    out.text(needs.target).list(needs.target_options).text(needs.spill);
  }
  return out.take();
}

std::optional<Needs> decode_needs(std::string_view bytes) {
  Decoder in(bytes);
  Needs needs;
  needs.gpus = in.word();
  needs.share = in.word();
  needs.memory = Bytes{in.integer()};
  needs.model = in.text();
  needs.only = in.list();
  needs.exclude = in.list();
  needs.prefer = in.list();
  // Older rows do not say.
  needs.claim =
      !in.at_end()
          ? static_cast<ClaimSource>(in.number_up_to(static_cast<std::uint64_t>(ClaimSource::None)))
      : needs.memory > Bytes{} ? ClaimSource::Given
                               : ClaimSource::Learned;
  if (!in.at_end()) {
    needs.mps = in.word();
    needs.thread_percentage = in.word();
  }
  if (!in.at_end()) {
    needs.profile = Duration(in.integer());
  }
  if (!in.at_end()) {
    needs.target = in.text();
    needs.target_options = in.list();
    needs.spill = in.text();
  }
  return in.failed() ? std::nullopt : std::optional(std::move(needs));
}

std::string encode_retry(const RetryRule& rule) {
  const RetryRule standard;
  if (rule.most == standard.most && rule.backoff == standard.backoff &&
      rule.on_failure == standard.on_failure && rule.on_time_limit == standard.on_time_limit &&
      rule.when_lost == standard.when_lost) {
    return "";
  }
  return Encoder()
      .number(rule.most)
      .integer(rule.backoff.count())
      .number(rule.on_failure ? 1 : 0)
      .number(rule.on_time_limit ? 1 : 0)
      .number(rule.when_lost ? 1 : 0)
      .take();
}

std::optional<RetryRule> decode_retry(std::string_view bytes) {
  RetryRule rule;
  if (bytes.empty()) {
    return rule;
  }
  Decoder in(bytes);
  rule.most =
      static_cast<std::uint16_t>(in.number_up_to(std::numeric_limits<std::uint16_t>::max()));
  rule.backoff = Duration(in.integer());
  rule.on_failure = in.number_up_to(1) == 1;
  rule.on_time_limit = in.number_up_to(1) == 1;
  rule.when_lost = !in.at_end() && in.number_up_to(1) == 1;  // format 1 had no such field
  return in.failed() ? std::nullopt : std::optional(rule);
}

std::string encode_after(const std::vector<Dependency>& after) {
  Encoder out;
  for (const Dependency& dependency : after) {
    out.number(dependency.job.value).number(static_cast<std::uint64_t>(dependency.when));
  }
  return out.take();
}

std::optional<std::vector<Dependency>> decode_after(std::string_view bytes) {
  Decoder in(bytes);
  std::vector<Dependency> after;
  while (!in.at_end()) {
    const JobId job{in.number()};
    const auto when = static_cast<Dependency::When>(
        in.number_up_to(static_cast<std::uint64_t>(Dependency::When::NotOk)));
    after.push_back({job, when});
  }
  return in.failed() ? std::nullopt : std::optional(std::move(after));
}

std::string encode_list(const std::vector<std::string>& values) {
  return Encoder().list(values).take();
}

std::optional<std::vector<std::string>> decode_list(std::string_view bytes) {
  Decoder in(bytes);
  std::vector<std::string> values = in.list();
  return in.failed() ? std::nullopt : std::optional(std::move(values));
}

std::string encode_sizes(const std::vector<Bytes>& sizes) {
  Encoder out;
  for (const Bytes& size : sizes) {
    out.integer(size.count);
  }
  return out.take();
}

std::optional<std::vector<Bytes>> decode_sizes(std::string_view bytes) {
  Decoder in(bytes);
  std::vector<Bytes> sizes;
  while (!in.at_end()) {
    sizes.push_back(Bytes{in.integer()});
  }
  return in.failed() ? std::nullopt : std::optional(std::move(sizes));
}

std::string encode_label(std::string_view key, std::string_view value) {
  return Encoder().text(key).text(value).take();
}

std::optional<std::pair<std::string, std::string>> decode_label(std::string_view bytes) {
  Decoder in(bytes);
  std::string key(in.text());
  std::string value(in.text());
  return in.failed() ? std::nullopt : std::optional(std::pair(std::move(key), std::move(value)));
}

std::string encode_rest(const JobDescription& description) {
  Encoder out;
  if (!description.output.empty()) {
    put(out, Field::Output, description.output);
  }
  if (!description.error.empty()) {
    put(out, Field::Error, description.error);
  }
  if (!description.labels.empty()) {
    put(out, Field::Labels, Encoder().map(description.labels).bytes());
  }
  if (!description.parameters.empty()) {
    put(out, Field::Parameters, Encoder().map(description.parameters).bytes());
  }
  if (description.warning_signal != 0) {
    put_integer(out, Field::WarningSignal, description.warning_signal);
  }
  return out.take();
}

bool decode_rest(std::string_view bytes, JobDescription& description) {
  Decoder in(bytes);
  while (!in.at_end()) {
    const auto field = static_cast<Field>(in.number());
    const std::string_view value = in.text();
    if (field == Field::Output) {
      description.output = value;
    } else if (field == Field::Error) {
      description.error = value;
    } else if (!take(field, Decoder(value), description)) {
      return false;
    }
  }
  return !in.failed();
}

}  // namespace berth
