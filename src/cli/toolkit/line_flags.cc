#include "cli/toolkit/line_flags.h"

namespace berth {

void add_line_flag(Args& args, LineOptions& options, std::string key, std::string names,
                   std::string metavar, std::string help) {
  args.value(std::move(names), std::move(metavar), std::move(help),
             [&options, key = std::move(key)](std::string_view word) -> Result<void> {
               return options.set(key, word);
             });
}

void add_claim_flags(Args& args, LineOptions& options, Duration& profile) {
  add_line_flag(args, options, "mem", "--mem", "SIZE",
                "GPU memory that a job claims on each of its GPUs: 8GiB, 500MB; auto (the\n"
                "default): what such jobs were seen to use, or a GPU of its own while that\n"
                "is not known; off: a GPU of its own");
  args.value("--profile", "TIME",
             "while the memory use of such jobs is unknown, run one alone for this long\n"
             "to learn it, then start it anew beside others",
             profile);
}

void add_weight_flag(Args& args, LineOptions& options) {
  add_line_flag(args, options, "weight", "--weight", "N",
                "its owner's share beside others, where the policy is fair between\n"
                "them: 3 gets three times as much as 1 (the default)");
}

}  // namespace berth
