#include "cli/toolkit/gpus_option.h"

#include <fmt/format.h>

#include <cstdlib>

namespace berth {
namespace {

/// Whether a word that follows `--gpus 0` is another device, and not, say, the name of a file.
bool looks_like_device(std::string_view word) {
  return word.find_first_not_of("0123456789,:") == word.npos || word.starts_with("GPU-") ||
         word.starts_with("MIG-") || word == "cpu";
}

}  // namespace

void add_gpus_option(Args& args, std::string& out) {
  const char* variable = std::getenv("BERTH_GPUS");
  out = variable != nullptr && *variable != '\0' ? variable : "auto";
  args.list(
      "--gpus", "LIST",
      "auto, 0,1,2 or 0 1 2, UUIDs, all, sim:4 or sim:4x24GiB; cpu\n"
      "among them is a slot for a job without a GPU\n"
      "(default: $BERTH_GPUS, else auto: all that the drivers show)",
      [&out](std::span<const std::string_view> words) -> Result<void> {
        out = fmt::format("{}", fmt::join(words, " "));
        return {};
      },
      looks_like_device);
}

}  // namespace berth
