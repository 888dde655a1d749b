#include "core/needs.h"

#include <fmt/format.h>

namespace berth {

Result<Claim> parse_claim(std::string_view text) {
  if (text == "auto") {
    return Claim{};
  }
  if (text == "off") {
    return Claim{ClaimSource::None, {}};
  }
  const Result<Bytes> memory = parse_bytes(text);
  if (!memory) {
    return fail(ErrorCode::Usage,
                fmt::format("'{}' is not a memory claim: write a size such as 8GiB, or auto (what "
                            "such jobs were seen to use), or off (share no GPU)",
                            text));
  }
  if (*memory <= Bytes{}) {
    return fail(ErrorCode::Usage, "a claim of memory must be more than 0; off shares no GPU");
  }
  return Claim{ClaimSource::Given, *memory};
}

void Needs::settle() {
  if (gpus == 0) {
    set({});
    share = 0;
    mps = 0;
  }
  if (mps == 0) {
    thread_percentage = 0;
  }
}

std::string_view claim_source_name(ClaimSource source) {
  switch (source) {
    case ClaimSource::Learned:
      return "auto";
    case ClaimSource::Given:
      return "given";
    case ClaimSource::None:
      return "off";
  }
  return "";
}

std::string describe(const Needs& needs) {
  if (needs.gpus == 0) {
    return "a CPU slot";
  }
  std::string text = needs.gpus == 1 ? "1 GPU" : fmt::format("{} GPUs", needs.gpus);
  const char* each = needs.gpus == 1 ? "" : " each";
  if (needs.memory > Bytes{}) {
    text += fmt::format(" with {}{}", format_bytes(needs.memory), each);
  }
  if (needs.share > 0) {
    text += fmt::format(" at {}%{}", (needs.share + 5) / 10, each);
  }
  if (needs.mps != 0) {
    text += needs.thread_percentage == 0
                ? " through MPS"
                : fmt::format(" through MPS with {}% of its threads", needs.thread_percentage);
  }
  if (!needs.model.empty()) {
    text += fmt::format(" of model '{}'", needs.model);
  }
  if (!needs.only.empty()) {
    text += fmt::format(" (only {})", fmt::join(needs.only, ", "));
  }
  if (!needs.exclude.empty()) {
    text += fmt::format(" (not {})", fmt::join(needs.exclude, ", "));
  }
  return text;
}

}  // namespace berth
