// RunAccount: the totals of a run so far, and the summary at its end.
#pragma once

#include "drive/driver.h"
#include "run/observer.h"
#include "run/run_jobs.h"
#include "run/use_meter.h"

namespace berth {

class RunAccount {
 public:
  explicit RunAccount(const std::vector<DeviceInfo>& devices) : meter_(devices) {}

  void begin(Time at) { begun_ = at; }
  void started(const StartJob& start, Duration waited);
  void ended(JobId job, Outcome outcome, Duration runtime);
  /// An attempt no longer has its devices.
  void released(const DrivenAttempt& attempt, Time at);
  void sampled(const std::vector<DeviceSample>& samples);

  /// `more_input`: more jobs may come.
  RunProgress progress(const Driver& driver, const RunJobs& jobs, bool more_input, Time at) const;
  RunSummary summarize(const Scheduler& scheduler, std::uint64_t lost_output, Time at);

  RunSummary& summary() { return summary_; }

 private:
  Duration estimate_remaining(const Driver& driver, bool more_input) const;

  RunSummary summary_;
  UseMeter meter_;
  Time begun_{};
};

}  // namespace berth
