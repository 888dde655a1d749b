#include "run/halt.h"

#include <fmt/format.h>

#include "base/units.h"

namespace berth {
namespace {

// One failure out of one would be all of them: a part says something only from here on.
constexpr std::uint64_t kFewestForPercent = 3;

Failure bad(std::string_view text) {
  return fail(ErrorCode::Usage,
              fmt::format("'{}': write never, soon,fail=1, now,fail=3 or soon,fail=10%", text));
}

}  // namespace

bool Halt::reached(std::uint64_t succeeded, std::uint64_t failed) const {
  if (when == When::Never) {
    return false;
  }
  const std::uint64_t counted = on_success ? succeeded : failed;
  if (!percent) {
    return counted >= count;
  }
  const std::uint64_t ended = succeeded + failed;
  return ended >= kFewestForPercent && counted * 100 >= count * ended;
}

Result<Halt> parse_halt(std::string_view text) {
  Halt halt;
  if (text == "never") {
    return halt;
  }
  std::string_view rest = text;
  if (rest.starts_with("soon,")) {
    halt.when = Halt::When::Soon;
    rest.remove_prefix(5);
  } else if (rest.starts_with("now,")) {
    halt.when = Halt::When::Now;
    rest.remove_prefix(4);
  } else {
    return bad(text);
  }
  if (rest.starts_with("fail=")) {
    rest.remove_prefix(5);
  } else if (rest.starts_with("success=")) {
    halt.on_success = true;
    rest.remove_prefix(8);
  } else {
    return bad(text);
  }
  if (rest.ends_with('%')) {
    halt.percent = true;
    rest.remove_suffix(1);
  }
  const Result<std::int64_t> count = parse_integer(rest, "the count");
  if (!count || *count < 1 || (halt.percent && *count > 100)) {
    return bad(text);
  }
  halt.count = static_cast<std::uint64_t>(*count);
  return halt;
}

}  // namespace berth
