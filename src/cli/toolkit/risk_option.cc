#include "cli/toolkit/risk_option.h"

#include "core/claim_book.h"

namespace berth {

Result<double> parse_risk(std::string_view text) {
  const bool percent = text.ends_with('%');
  text.remove_suffix(percent ? 1 : 0);
  const Result<double> number = parse_real(text, "--oom-risk");
  if (!number) {
    return Failure(number.error());
  }
  const double risk = percent ? *number / 100 : *number;
  if (!(risk >= kLeastOomRisk && risk <= kMostOomRisk)) {
    return fail(ErrorCode::Usage, "--oom-risk must be between 0.01% and 50%");
  }
  return risk;
}

void add_risk_option(Args& args, std::string help, std::optional<double>& risk) {
  args.value("--oom-risk", "SHARE", std::move(help),
             [&risk](std::string_view text) -> Result<void> {
               const Result<double> parsed = parse_risk(text);
               if (!parsed) {
                 return Failure(parsed.error());
               }
               risk = *parsed;
               return {};
             });
}

}  // namespace berth
