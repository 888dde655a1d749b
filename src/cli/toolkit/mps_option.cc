#include "cli/toolkit/mps_option.h"

#include <unistd.h>

namespace berth {

void MpsOption::declare(Args& args) {
  args.flag("--mps", on_,
            "share GPUs through NVIDIA's MPS, with jobs that do the same and claim\n"
            "memory or a share; berth starts and stops what it takes");
  args.value("--thread-percentage,--thread_percentage", "P",
             "with --mps: the most of its GPU's threads that a job may have",
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
