// Whatever a user types as template, parameters, constraint or sweep file: never a crash, an
// exception or a hang; and what parses can be walked.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "spec/sweep.h"
#include "spec/sweep_file.h"

namespace {

using namespace berth;

/// The text up to the next '\x01', which the fuzzer soon learns to place.
std::string_view take_part(std::string_view& text) {
  const std::size_t end = std::min(text.find('\x01'), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

void walk(SweepSpec spec, std::uint64_t seed) {
  spec.most_misses = 100;
  spec.n_samples = std::min<std::uint64_t>(spec.n_samples.value_or(20), 20);
  const Result<Sweep> sweep = Sweep::make(std::move(spec));
  if (!sweep) {
    BERTH_CHECK(!sweep.error().message.empty());
    return;
  }
  SweepCursor cursor(*sweep, seed);
  SweepCursor again(*sweep, seed);
  std::uint64_t points = 0;
  while (cursor.next()) {
    BERTH_CHECK(again.next());
    BERTH_CHECK(cursor.command() == again.command());
    for (const ParamValue& value : cursor.values()) {
      BERTH_CHECK(!value.number || number_in(value.text) == value.number);
    }
    ++points;
  }
  BERTH_CHECK(points <= 20);
  BERTH_CHECK(!sweep->count() || *sweep->count() == points);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) {
    return 0;
  }
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::uint64_t seed = data[0];
  if (seed % 4 == 0) {
    if (Result<SweepSpec> spec = parse_sweep_file(text, "f")) {
      walk(*std::move(spec), seed);
    }
    return 0;
  }
  SweepSpec spec;
  spec.allow_unused = true;
  spec.order = seed % 4 == 1 ? SweepOrder::Grid : SweepOrder::Shuffled;
  spec.command = take_part(text);
  if (const std::string_view where = take_part(text); !where.empty()) {
    spec.where.emplace_back(where);
  }
  while (!text.empty()) {
    const std::vector<std::string_view> words = {take_part(text)};
    if (const Result<std::vector<Param>> params = parse_param_words(words, LoneValue::MayBeRange)) {
      spec.params.insert(spec.params.end(), params->begin(), params->end());
    }
  }
  walk(std::move(spec), seed);
  return 0;
}
