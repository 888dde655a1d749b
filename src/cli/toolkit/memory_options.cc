#include "cli/toolkit/memory_options.h"

namespace berth {

void add_claim_option(Args& args, Needs& needs) {
  args.value("--mem", "SIZE",
             "GPU memory that a job claims on each of its GPUs: 8GiB, 500MB; auto (the\n"
             "default): what such jobs were seen to use, or a GPU of its own while that\n"
             "is not known; off: a GPU of its own",
             [&needs](std::string_view text) -> Result<void> {
               const Result<Claim> claim = parse_claim(text);
               if (!claim) {
                 return Failure(claim.error());
               }
               needs.set(*claim);
               return {};
             });
  args.value("--profile", "TIME",
             "while nobody knows what such jobs use, run one so long first, alone, to\n"
             "find out, and then anew beside others",
             needs.profile);
}

void SharingOptions::declare(Args& args) {
  args.value("--buffer", "SIZE", "memory kept free on a shared GPU (default: 512MiB)", buffer);
  args.value("--placement", "HOW",
             "which of the GPUs that fit: pack (the default: fill one up before the\n"
             "next), bestfit (where the least memory is left), leastloaded, spread, fgd",
             [this](std::string_view text) -> Result<void> {
               const Result<Placement> named = parse_placement(text);
               if (!named) {
                 return Failure(named.error());
               }
               placement = *named;
               return {};
             });
  args.flag("--enforce", enforce_claims,
            "end a job that uses more than it claimed while others share its GPU");
}

}  // namespace berth
