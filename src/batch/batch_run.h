// BatchRun: feeds the jobs of `berth batch` to a Run, batch after batch. In each batch, every
// script whose memory use is unknown first has a short run, and then the tasks themselves run.
// BatchRun is the observer of the run, passes everything on to the reporter, and adds jobs as
// others end. It works on the run's thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "batch/journal.h"
#include "batch/script_profiles.h"
#include "run/input.h"
#include "run/observer.h"
#include "spec/task.h"

namespace berth {

struct BatchOptions {
  std::size_t size = 0;             // tasks taken from the file together; 0: all
  std::int64_t profile_epochs = 2;  // 0: no profiles; scripts with unknown memory use run alone
  bool rerun_failed = false;
  std::string peaks;  // the file of the memory that jobs have used; the same as the run's
};

/// Whether a row is still to be run. A failed row is pending if it has changed since, or with
/// `rerun_failed`.
bool is_pending(const RowRecord& record, const Task& task, bool rerun_failed);

class BatchRun final : public RunObserver {
 public:
  BatchRun(BatchOptions options, const std::vector<Task>& tasks, BatchJournal& journal,
           RunObserver& reporter);

  /// The input for the run. It contains the first jobs and ends with the last batch.
  Input input();

  void job_started(const JobEvent& job) override;
  void job_ended(const JobEvent& job, const JobEndEvent& end) override;
  void finished(const RunSummary& summary) override;
  void job_output(JobId job, bool is_stderr, std::string_view lines) override;
  void warning(std::string_view text) override { reporter_.warning(text); }
  void device_taken(std::string_view gpu, const LockHolder& holder) override;
  void stalled(std::string_view why) override { reporter_.stalled(why); }
  void interrupted(int level, std::uint64_t running) override;
  Duration interval() const override { return reporter_.interval(); }
  void progress(const RunProgress& progress) override { reporter_.progress(progress); }

  /// The summary in rows of the file; profiles are not counted.
  const RunSummary& summary() const { return summary_; }

 private:
  struct Member {
    std::size_t row = 0;
    std::uint64_t id = 0;
    std::string script;
  };
  struct Sent {
    Member member;
    bool is_profile = false;
  };

  bool begin_batch();
  void send_profiles();
  void send_ready();
  void send(const Member& member, bool is_profile, std::int32_t priority);
  void profile_ended(const Member& member, const JobEndEvent& end);
  void task_ended(const Member& member, const JobEndEvent& end);
  void give_up(const Member& member, const std::string& reason);
  void note(const Result<void>& written);

  BatchOptions options_;
  const std::vector<Task>& tasks_;
  BatchJournal& journal_;
  RunObserver& reporter_;
  InputFeed feed_;
  ScriptProfiles profiles_;

  std::size_t span_ = 0;                           // the next batch
  std::vector<Member> members_;                    // pending rows of the current batch, in order
  std::size_t ready_ = 0;                          // how many members were sent or given up
  std::size_t unfinished_ = 0;                     // sent members that have not ended
  std::map<std::string, Sent, std::less<>> sent_;  // by job name
  RunSummary summary_;
};

}  // namespace berth
