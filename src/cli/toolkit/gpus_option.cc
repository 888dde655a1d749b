#include "cli/toolkit/gpus_option.h"

#include <fmt/format.h>

#include "cli/toolkit/words.h"

namespace berth {
namespace {

/// Whether a word that follows `--gpus 0` is another device, and not, say, the name of a file.
bool looks_like_device(std::string_view word) {
  return word.find_first_not_of("0123456789,:") == word.npos || word.starts_with("GPU-") ||
         word.starts_with("MIG-") || word == "cpu";
}

void declare(Args& args, std::string& out, std::string_view otherwise) {
  args.list(
      "--gpus", "LIST",
      fmt::format("auto, 0,1,2 or 0 1 2, UUIDs, all, none, sim:4 or sim:4x24GiB; cpu\n"
                  "among them is a slot for a job without a GPU\n"
                  "(default: $BERTH_GPUS, else {})",
                  otherwise),
      [&out](std::span<const std::string_view> words) -> Result<void> {
        out = fmt::format("{}", fmt::join(words, " "));
        return {};
      },
      looks_like_device);
}

}  // namespace

void add_gpus_option(Args& args, std::string& out) {
  out = environment_variable("BERTH_GPUS");
  out = out.empty() ? "auto" : out;
  declare(args, out, "auto: all that the drivers show");
}

void add_daemon_gpus_option(Args& args, std::string& out) {
  out = environment_variable("BERTH_GPUS");
  declare(args, out, "as before, else auto: all\nthat the drivers show");
}

}  // namespace berth
