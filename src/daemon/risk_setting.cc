#include "daemon/risk_setting.h"

#include <fmt/format.h>

#include "core/claim_book.h"

namespace berth {

namespace {

Result<double> kept_risk(Store& store) {
  const Result<std::optional<std::string>> kept = store.settings().get("oom_risk");
  if (!kept) {
    return fail(ErrorCode::Io, "the settings in the database cannot be read");
  }
  const Result<double> risk = parse_real(kept->value_or(""), "oom_risk");
  return risk && *risk >= kLeastOomRisk && *risk <= kMostOomRisk ? *risk : kUsualOomRisk;
}

}  // namespace

Result<double> read_risk(Store& store, const DaemonOptions& options) {
  return options.oom_risk ? Result<double>(*options.oom_risk) : kept_risk(store);
}

Result<void> settle_risk(Store& store, Driver& driver) {
  const Result<double> before = kept_risk(store);
  if (!before) {
    return Failure(before.error());
  }
  const double risk = driver.memory().risk();
  if (risk == *before) {
    return {};
  }
  driver.memory().reconsider();
  return store.settings().set("oom_risk", fmt::format("{}", risk));
}

}  // namespace berth
