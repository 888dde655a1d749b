#include "daemon/policy_setting.h"

namespace berth {

Result<PolicySetting> read_policy(Store& store, const DaemonOptions& options) {
  const Result<std::optional<std::string>> policy = store.settings().get("policy");
  const Result<std::optional<std::string>> placed = store.settings().get("placement");
  if (!policy || !placed) {
    return fail(ErrorCode::Io, "the settings in the database cannot be read");
  }
  PolicySetting setting;
  setting.policy = !options.policy.empty() ? options.policy : policy->value_or("priority");
  const Result<Placement> before = parse_placement(placed->value_or(""));
  setting.placement = options.placement.value_or(before ? *before : kUsualPlacement);
  return setting;
}

Result<std::string> read_shadow(Store& store, const DaemonOptions& options) {
  if (!options.shadow.empty()) {
    const std::string wanted = options.shadow == "none" ? "" : options.shadow;
    const Result<void> kept = store.settings().set("shadow", wanted);
    return kept ? Result<std::string>(wanted) : Failure(kept.error());
  }
  Result<std::optional<std::string>> before = store.settings().get("shadow");
  return before ? Result<std::string>(before->value_or(""))
                : fail(ErrorCode::Io, "the settings in the database cannot be read");
}

Result<void> keep_policy(Store& store, const Driver& driver) {
  if (Result<void> kept = store.settings().set("policy", driver.policy()); !kept) {
    return kept;
  }
  return store.settings().set("placement", std::string(placement_name(driver.view().placement())));
}

}  // namespace berth
