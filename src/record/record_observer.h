// RecordObserver: stands between a run and its reporter, and keeps a record of who had which
// devices and what the devices did.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "record/recorder.h"
#include "run/observer.h"

namespace berth {

class RecordObserver final : public RunObserver {
 public:
  /// Both are borrowed.
  RecordObserver(Recorder& recorder, RunObserver& reporter)
      : recorder_(recorder), reporter_(reporter) {}

  void job_started(const JobEvent& job) override;
  void job_ended(const JobEvent& job, const JobEndEvent& end) override;
  void job_stopped(const JobEvent& job, bool stopped) override;
  void job_output(JobId job, bool is_stderr, std::string_view lines) override {
    reporter_.job_output(job, is_stderr, lines);
  }
  void warning(std::string_view text) override { reporter_.warning(text); }
  void device_taken(std::string_view gpu, const LockHolder& holder) override {
    reporter_.device_taken(gpu, holder);
  }
  void stalled(std::string_view why) override { reporter_.stalled(why); }
  void interrupted(int level, std::uint64_t running) override {
    reporter_.interrupted(level, running);
  }
  void sampled(const std::vector<DeviceSample>& samples) override;
  Duration interval() const override { return reporter_.interval(); }
  void progress(const RunProgress& progress) override { reporter_.progress(progress); }
  void finished(const RunSummary& summary) override { reporter_.finished(summary); }

 private:
  void enter(const JobEvent& job);
  void leave(const JobEvent& job);

  Recorder& recorder_;
  RunObserver& reporter_;
};

/// The time of the steady clock, on which recordings of this process stand.
Time record_time();

}  // namespace berth
