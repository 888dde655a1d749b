#include "store/spec_coding.h"

#include "store/fields.h"

namespace berth {
namespace {

/// Fields of a JobSpec that are at other than their defaults, as bits. The bits are on disk.
constexpr std::uint64_t kNeeds = 1 << 0;
constexpr std::uint64_t kPriority = 1 << 1;
constexpr std::uint64_t kExpected = 1 << 2;
constexpr std::uint64_t kLimit = 1 << 3;
constexpr std::uint64_t kWarnBefore = 1 << 4;
constexpr std::uint64_t kBegin = 1 << 5;
constexpr std::uint64_t kRetry = 1 << 6;
constexpr std::uint64_t kAfter = 1 << 7;
constexpr std::uint64_t kHeld = 1 << 8;
constexpr std::uint64_t kOwner = 1 << 9;
constexpr std::uint64_t kWeight = 1 << 10;
constexpr std::uint64_t kAllFields = (1 << 11) - 1;

}  // namespace

void encode_spec(Encoder& out, const JobSpec& spec) {
  const JobSpec usual;
  Encoder values;
  std::uint64_t fields = 0;
  const auto has = [&](std::uint64_t field, bool unusual) {
    fields |= unusual ? field : 0;
    return unusual;
  };
  if (has(kNeeds, spec.needs != usual.needs)) {
    values.text(encode_needs(spec.needs));
  }
  if (has(kPriority, spec.priority != usual.priority)) {
    values.integer(spec.priority);
  }
  if (has(kExpected, spec.expected != usual.expected)) {
    values.integer(spec.expected.count());
  }
  if (has(kLimit, spec.limit != usual.limit)) {
    values.integer(spec.limit.count());
  }
  if (has(kWarnBefore, spec.warn_before != usual.warn_before)) {
    values.integer(spec.warn_before.count());
  }
  if (has(kBegin, spec.begin != usual.begin)) {
    values.integer(spec.begin.time_since_epoch().count());
  }
  if (has(kRetry, spec.retry != usual.retry)) {
    values.text(encode_retry(spec.retry));
  }
  if (has(kAfter, !spec.after.empty())) {
    values.text(encode_after(spec.after));
  }
  has(kHeld, spec.held);
  if (has(kOwner, spec.owner != usual.owner)) {
    values.number(spec.owner.value);
  }
  if (has(kWeight, spec.weight != usual.weight)) {
    values.number(spec.weight);
  }
  out.number(fields).raw(values.bytes());
}

std::optional<JobSpec> decode_spec(Decoder& in) {
  JobSpec spec;
  const std::uint64_t fields = in.number_up_to(kAllFields);
  if (fields & kNeeds) {
    std::optional<Needs> needs = decode_needs(in.text());
    if (!needs) {
      return std::nullopt;
    }
    spec.needs = std::move(*needs);
  }
  spec.priority = fields & kPriority ? static_cast<std::int32_t>(in.integer()) : spec.priority;
  spec.expected = fields & kExpected ? Duration(in.integer()) : spec.expected;
  spec.limit = fields & kLimit ? Duration(in.integer()) : spec.limit;
  spec.warn_before = fields & kWarnBefore ? Duration(in.integer()) : spec.warn_before;
  spec.begin = fields & kBegin ? Time(Duration(in.integer())) : spec.begin;
  if (fields & kRetry) {
    const std::optional<RetryRule> retry = decode_retry(in.text());
    if (!retry) {
      return std::nullopt;
    }
    spec.retry = *retry;
  }
  if (fields & kAfter) {
    std::optional<std::vector<Dependency>> after = decode_after(in.text());
    if (!after) {
      return std::nullopt;
    }
    spec.after = std::move(*after);
  }
  spec.held = (fields & kHeld) != 0;
  spec.owner = fields & kOwner ? OwnerId{in.word()} : spec.owner;
  spec.weight = fields & kWeight ? in.half_word() : spec.weight;
  const bool sound =
      spec.priority >= -kMostPriority && spec.priority <= kMostPriority && spec.weight > 0;
  return sound ? std::optional(std::move(spec)) : std::nullopt;
}

}  // namespace berth
