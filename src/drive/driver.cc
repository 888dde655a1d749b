#include "drive/driver.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "policy/learned.h"
#include "policy/policies.h"
#include "rl/packed_name.h"

namespace berth {
namespace {

/// What the scheduler has decided, done one by one.
struct CarryOut {
  DrivenAttempts& attempts;
  Host& host;
  Time at;
  bool refused = false;  // a start could not be carried out

  void operator()(const StartJob& start) { refused = !attempts.begin(start, at) || refused; }
  void operator()(const StopJob& stop) { attempts.stop(stop, at); }
  void operator()(const WarnJob& warn) { host.warn(warn.job); }
  void operator()(const JobEnded& ended) { attempts.end(ended.job, at); }
  void operator()(const JobRequeued& requeued) { attempts.requeue(requeued, at); }
  void operator()(const PreemptJob&) {}  // no policy that preempts is let in
};

}  // namespace

Result<std::unique_ptr<Driver>> Driver::make(DriverOptions options, Devices& devices, Host& host) {
  Result<std::unique_ptr<Policy>> policy = make_live_policy(options.policy);
  if (!policy) {
    return Failure(policy.error());
  }
  return std::unique_ptr<Driver>(new Driver(std::move(options), std::move(*policy), devices, host));
}

Driver::Driver(DriverOptions options, std::unique_ptr<Policy> policy, Devices& devices, Host& host)
    : options_(std::move(options)),
      host_(host),
      scheduler_(std::move(policy), Restarted{options_.policy, options_.config}, host.now(),
                 options_.journal),
      devices_(scheduler_, host, devices, options_.mark, options_.sample_interval),
      lengths_(scheduler_),
      memory_(scheduler_, lengths_, options_.peaks, options_.oom_risk),
      mps_(options_.mps, host,
           {[this](const StartJob& start) { host_.launch(start, host_.now()); },
            [this](const StartJob& start, const std::string& why) {
              attempts_.fail_start(start, why, host_.now());
            },
            [this](JobId job, const std::string& text) { attempts_.warn(job, text); }}),
      attempts_(scheduler_, devices_, memory_, mps_, host),
      trouble_(options_.trouble) {
  devices_.on_reading(
      [this](const Telemetry::Reading& reading, Time at) { take_reading(reading, at); });
  add_devices();
}

void Driver::add_devices() { devices_.add_new(options_.measure_power); }

Result<void> Driver::set_policy(const std::string& policy, Placement placement, Time at) {
  Result<std::unique_ptr<Policy>> made = make_live_policy(policy);
  if (!made) {
    return Failure(made.error());
  }
  scheduler_.set_policy(std::move(*made), PolicyChanged{policy, placement}, at);
  options_.policy = policy;
  trouble_.clear();
  return {};
}

void Driver::watch_model(Time at) {
  if (options_.policy != "rl" && !options_.policy.starts_with(kLearnedPrefix)) {
    return;
  }
  std::string why(model_trouble(view().policy()));
  if (why.empty() && view().refusal() != seen_refusal_) {
    why = fmt::format("it chose what cannot be started ({})", view().refusal());
  }
  seen_refusal_ = view().refusal();
  if (!why.empty()) {
    const std::string erred(policy_label(options_.policy));
    if (set_policy("priority", view().placement(), at)) {
      trouble_ = fmt::format("priority decides instead of {}: {}", erred, why);
    }
  }
}

bool Driver::is_due(Time at) const {
  return scheduler_.has_news() || behind() || view().wake_at() <= at;
}

void Driver::decide(Time at) {
  memory_.pass_on_claims(options_.claims_at_once, at);
  lengths_.pass_on(options_.claims_at_once, at);
  bool again = true;
  while (again) {
    const std::uint64_t concluded = attempts_.concluded();
    CarryOut carry_out{attempts_, host_, at};
    for (const Action& action : scheduler_.step(at)) {
      std::visit(carry_out, action);
    }
    // Another instance was faster, or an attempt is over already. Each refusal rules a device out,
    // so it ends.
    again = carry_out.refused || attempts_.concluded() != concluded;
  }
  watch_model(at);
}

void Driver::settle() {
  mps_.settle_unused();
  devices_.release_unused();
}

void Driver::take_reading(const Telemetry::Reading& reading, Time at) {
  attempts_.measure(reading, at);
  memory_.take(reading, at);
  host_.reading_taken(reading, at);
  attempts_.settle_complaints(reading, at);
}

}  // namespace berth
