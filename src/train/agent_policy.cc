#include "train/agent_policy.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "policy/decayed_use.h"
#include "policy/learned.h"
#include "policy/window_order.h"
#include "rl/candidates.h"
#include "sim/arrivals.h"

namespace berth {
namespace {

SeenDevice look_at_device(const DeviceSlot& slot) {
  SeenDevice seen;
  double memory = static_cast<double>(slot.foreign.count);
  for (const DeviceLease& lease : slot.leases) {
    seen.use += lease.share == 0 ? 1.0 : static_cast<double>(lease.share) / kWholeShare;
    memory += static_cast<double>(lease.held().count);
  }
  seen.use = std::min(seen.use, 1.0);
  const auto whole = static_cast<double>(slot.spec.memory.count);
  seen.memory = whole > 0 ? std::min(memory / whole, 1.0) : 0;
  const DevicePower& power = slot.spec.power;
  seen.power = (slot.leases.empty() ? power.idle : power.busy) / std::max(power.busy, 1e-9);
  return seen;
}

class AgentPolicy final : public Policy {
 public:
  AgentPolicy(Agent& agent, CostMeter& meter, std::size_t jobs)
      : agent_(agent), meter_(meter), to_come_(jobs), use_(options_.half_life) {}

  std::string_view name() const override { return "agent"; }
  Rank rank(const Job& job, const Needs&) override { return order_.rank(job); }

  void joined(const Job& job, const Needs& needs) override {
    candidates_.joined(job, needs);
    meter_.came(job_of(job.id), job.submitted);
    --to_come_;
  }
  void left(const Job& job, const Needs&) override { candidates_.left(job); }
  void started(const Job& job, const Needs& needs, Time now) override {
    meter_.started(job_of(job.id), now);
    use_.started(job, needs, now);
    ++running_;
  }
  void stopped(const Job& job, const Needs& needs, Time now) override {
    meter_.ended(job_of(job.id), now);
    use_.stopped(job, needs, now);
    --running_;
  }

  std::optional<Proposal> propose(const View& view) override {
    const std::span<const RankedJob> jobs = candidates_.look(view);
    if (!look(view, jobs)) {
      return std::nullopt;
    }
    const std::size_t count = jobs.size();
    Observation seen;
    seen.now = view.now();
    seen.jobs = jobs;
    seen.sights = std::span(sights_).first(count);
    seen.fits = std::span(fits_).first(count);
    seen.rest = &rest_;
    seen.devices = devices_;
    seen.cost = meter_.until(view.now());
    Choice choice = agent_.act(seen);
    if ((choice.job >= count || !fits_[choice.job]) && running_ == 0 && to_come_ == 0) {
      choice = {
          static_cast<std::size_t>(std::find(fits_.begin(), fits_.end(), true) - fits_.begin()),
          std::nullopt};
    }
    return choice.job < count && fits_[choice.job] ? start(view, jobs[choice.job], choice)
                                                   : std::nullopt;
  }

 private:
  /// Whether there is anything to decide.
  bool look(const View& view, std::span<const RankedJob> jobs) {
    bool any = false;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      fits_[i] = has_room(view, jobs[i]);
      any = any || fits_[i];
    }
    if (!any) {
      return false;
    }
    rest_ = rest_of(view.devices(), jobs, candidates_.waiting());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const double use = use_.of(jobs[i].owner, view.now()) * std::log(2.0) /
                         to_seconds(options_.half_life) / static_cast<double>(rest_.serving);
      sights_[i] = look_at(jobs[i], rest_, {view.now(), fits_[i], use, 0, 0});
    }
    if (agent_.sees_devices()) {
      devices_.clear();
      for (const DeviceSlot& slot : view.devices().all()) {
        devices_.push_back(look_at_device(slot));
      }
    }
    return true;
  }

  static bool has_room(const View& view, const RankedJob& job) {
    if (view.queue().bucket(job.shape).blocked_at == view.devices().freed()) {
      return false;
    }
    return job.alone ? job.gpus <= view.devices().idle() : view.place(job.shape, {}).has_value();
  }

  static std::optional<Proposal> start(const View& view, const RankedJob& job,
                                       const Choice& choice) {
    if (choice.device && job.gpus == 1 && choice.device->value < view.devices().size() &&
        view.devices().fits(*choice.device, view.queue().needs(job.shape))) {
      return Proposal{job.key.job, {*choice.device}};
    }
    auto devices = view.place(job.shape, {});
    return devices ? std::optional(Proposal{job.key.job, std::move(*devices)}) : std::nullopt;
  }

  Agent& agent_;
  CostMeter& meter_;
  std::size_t to_come_;
  std::size_t running_ = 0;
  LearnedOptions options_;
  WindowOrder order_{options_.aging};
  Candidates candidates_;
  DecayedUse use_;

  // Of one decision.
  Rest rest_;
  std::array<Sight, kMostCandidates> sights_{};
  std::array<bool, kMostCandidates> fits_{};
  std::vector<SeenDevice> devices_;
};

}  // namespace

std::unique_ptr<Policy> make_agent_policy(Agent& agent, CostMeter& meter, std::size_t jobs) {
  return std::make_unique<AgentPolicy>(agent, meter, jobs);
}

}  // namespace berth
