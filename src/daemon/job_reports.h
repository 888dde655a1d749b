// JobReports: what clients are told of jobs: their state, why they wait, when they are expected to
// start and to end. Owned by the loop's thread.
#pragma once

#include <string>

#include "api/messages.h"
#include "daemon/daemon_devices.h"
#include "daemon/desk.h"
#include "daemon/forecast_book.h"

namespace berth {

class JobReports {
 public:
  JobReports(Desk& desk, const DaemonDevices& devices) : desk_(desk), devices_(devices) {}

  JobReport report(const JobRecord& record) const;
  /// The same with attempts, and why it waits. Its environment is left to the caller.
  Result<JobReport> full_report(const JobRecord& record);
  /// What listeners are told of it; none: it is gone.
  EventHub::Described described(JobId id) const;

  /// Of a running job: as it said, as jobs of its kind have taught, or when its time is over;
  /// kNever where nobody can tell.
  Time expected_end(JobId id) const;
  /// Of a waiting one, in seconds since 1970; 0 where nobody can tell.
  double expected_start(JobId id);
  /// When and where waiting jobs are expected to run, as of now or a little earlier.
  const Forecast::Runs& expected_runs();
  /// Something has happened that may change it.
  void outdate_forecast() { forecast_.outdate(); }

 private:
  void refresh_forecast();
  std::string explain_waiting(const Job& job, Explanation why) const;

  Desk& desk_;
  const DaemonDevices& devices_;
  ForecastBook forecast_;
};

}  // namespace berth
