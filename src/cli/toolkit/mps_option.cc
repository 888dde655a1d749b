#include "cli/toolkit/mps_option.h"

#include <unistd.h>

namespace berth {

namespace {

bool is_no(std::string_view word) { return word == "False" || word == "false" || word == "0"; }
bool is_yes(std::string_view word) { return word == "True" || word == "true" || word == "1"; }

}  // namespace

void MpsOption::declare(Args& args, Word word) {
  constexpr const char* kHelp =
      "share GPUs through NVIDIA's MPS, with jobs that do the same and claim\n"
      "memory or a share; berth starts and stops what it takes";
  const bool with_word = word == Word::May;
  if (with_word) {
    args.optional_value(
        "-m,--mps", "True|False", kHelp,
        [this](std::string_view value) -> Result<void> {
          if (!value.empty() && !is_yes(value) && !is_no(value)) {
            return fail(ErrorCode::Usage, "the value is True or False");
          }
          on_ = !is_no(value);
          return {};
        },
        true, [](std::string_view next) { return is_yes(next) || is_no(next); });
  } else {
    args.flag("--mps", on_, kHelp);
  }
  args.value(with_word ? "--thread-percentage,--thread_percentage,--threads_percentage"
                       : "--thread-percentage,--thread_percentage",
             "P", "with --mps: the most of its GPU's threads that a job may have",
             [this](std::string_view word) -> Result<void> {
               const Result<std::int64_t> percentage = parse_integer(word, "--thread-percentage");
               if (!percentage || *percentage < 1 || *percentage > 100) {
                 return fail(ErrorCode::Usage, "--thread-percentage must be from 1 to 100");
               }
               percentage_ = *percentage;
               return {};
             });
}

Result<void> MpsOption::apply(Needs& needs) const {
  if (percentage_ && !on_) {
    return fail(ErrorCode::Usage, "--thread-percentage needs --mps");
  }
  if (on_) {
    needs.mps = mps_of(::geteuid());
    needs.thread_percentage = static_cast<std::uint32_t>(percentage_.value_or(0));
  }
  return {};
}

}  // namespace berth
