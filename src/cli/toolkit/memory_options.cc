#include "cli/toolkit/memory_options.h"

#include "cli/toolkit/risk_option.h"

namespace berth {

void SharingOptions::declare(Args& args) {
  args.value("--buffer", "SIZE", "memory kept free on a shared GPU (default: 512MiB)", buffer);
  args.value("--placement", "HOW",
             "which of the GPUs that fit: idle (the default: an idle one, then the\n"
             "least loaded), pack (fill one up before the next), bestfit (where the\n"
             "least memory is left), leastloaded, spread, fgd",
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
  add_risk_option(args,
                  "how many of the jobs whose memory berth has learned may use more than\n"
                  "they claim (default: 1%); less makes claims larger",
                  oom_risk);
}

}  // namespace berth
