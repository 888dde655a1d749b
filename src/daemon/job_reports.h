// JobReports: what clients are told about jobs: their state, why they wait, and when they are
// expected to start and end. Owned by the loop's thread.
#pragma once

#include <string>

#include "api/messages.h"
#include "core/start_intervals.h"
#include "daemon/daemon_devices.h"
#include "daemon/desk.h"
#include "daemon/forecast_book.h"

namespace berth {

class JobReports {
 public:
  JobReports(Desk& desk, const DaemonDevices& devices) : desk_(desk), devices_(devices) {}

  JobReport report(const JobRecord& record) const;
  /// The same, with the attempts and the reason why the job waits. The caller adds the environment.
  Result<JobReport> full_report(const JobRecord& record);
  /// What listeners are told about the job; empty when the job is gone.
  EventHub::Described described(JobId id) const;

  /// The expected end of a running job: by its own estimate, by past jobs of its kind, or by its
  /// time limit. kNever when unknown.
  Time expected_end(JobId id) const;
  /// Adds when a waiting job is expected to start, as far as that is known.
  void add_expected_start(JobReport& report);
  /// When and where waiting jobs are expected to run, as of now or a little earlier.
  const Forecast::Runs& expected_runs();
  /// Something has happened that may change the forecast.
  void outdate_forecast() { forecast_.outdate(); }
  /// Makes a forecast now and then while jobs wait, because its errors are learned from. Call it in
  /// each turn.
  void look_ahead(Time at);
  /// The job has been given devices: forecasts of its start are judged.
  void job_started(JobId id, Time at) { intervals_.started(id, at); }

 private:
  void refresh_forecast();
  bool play_forecast(Duration at_most);
  double expected_start(JobId id) const;
  std::string explain_waiting(const Job& job, Explanation why) const;
  void add_claim(const Job& job, JobReport& report) const;

  Desk& desk_;
  const DaemonDevices& devices_;
  ForecastBook forecast_;
  StartIntervals intervals_;  // learned anew by each daemon
};

}  // namespace berth
