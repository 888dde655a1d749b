// SlurmTarget: runs attempts on a Slurm cluster, by Slurm's own commands. It keeps a folder on a
// file system that the cluster's nodes share; the files in it decide what became of an attempt
// (batch_folder.h, wrapper.h). squeue is asked about all jobs at once, and only tells why they
// wait, and which have gone without a trace.
//
// Everything happens on the owner's thread, except calls of Slurm's commands and of the file
// system, which two threads make. These promises hold whichever process is killed, at any time, on
// this machine or in the cluster:
// - an attempt runs at most once in the folder, however often sbatch is asked. Slurm may run it
//   again only where it is allowed to requeue jobs, and then not beside the copy before;
// - each attempt ends in exactly one AttemptEnd per runner, with the true code or as Lost;
// - a submission that Slurm has lost is found missing, and sent again;
// - while the cluster cannot be reached, attempts wait: nothing is lost or marked failed.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/shim_runner.h"
#include "slurm/batch_folder.h"
#include "slurm/chores.h"
#include "slurm/sbatch_options.h"
#include "slurm/slurm_call.h"
#include "slurm/slurm_standing.h"
#include "slurm/squeue_table.h"

namespace berth {

struct SlurmSettings {
  std::string name;    // as users name the cluster
  std::string folder;  // that the nodes share
  std::string bin;     // where Slurm's commands are; empty: by PATH
  std::string conf;    // its slurm.conf; empty: as the environment or Slurm itself says
  ClusterDefaults defaults = {};
  std::chrono::milliseconds patience = std::chrono::seconds(30);  // for a call of sbatch
  std::function<void(const std::string&)> log = {};
};

class SlurmTarget final : public ShimRunner {
 public:
  using Run = std::function<SlurmAnswer(const SlurmCall&, int stop_fd)>;
  using Clock = std::chrono::steady_clock;

  explicit SlurmTarget(SlurmSettings settings, Run run = run_slurm_call);
  ~SlurmTarget() override;

  /// Makes the folder.
  Result<void> open();

  std::vector<AttemptStart> adopt() override;
  bool may_have_run(JobId, std::uint16_t, bool started) const override { return started; }
  Result<void> start(const ShimLaunch& launch) override;
  void stop(JobId job, StopSignal signal) override;
  bool pause(JobId job, bool stopped) override;
  void send(JobId job, int signal) override;
  int event_fd() const override { return events_.get(); }
  std::vector<AttemptStart> take_starts() override;
  std::vector<AttemptEnd> take_ends() override;
  void forget(JobId job, std::uint16_t attempt) override;

  bool take_back(JobId job) override;
  std::optional<SlurmStanding> standing(JobId job) const;
  /// As of the last minute or so; not known() before the cluster has answered once.
  const ClusterFacts& facts() const { return facts_; }
  const SlurmSettings& settings() const { return settings_; }
  /// Why the cluster cannot be reached at present; empty: it can.
  const std::string& trouble() const { return trouble_; }
  /// Calls Slurm on the thread for that, and `answered` on the owner's.
  void ask(std::vector<std::string> words, std::function<void(const SlurmAnswer&)> answered);

 private:
  struct Element {
    JobId job = {};
    std::uint16_t attempt = 0;
    enum class State : std::uint8_t { Waits, Runs, Over } state = State::Waits;
    bool forgotten = false;
    bool withdrawing = false;
    std::optional<StopSignal> stop = {};
    Clock::time_point told_to_stop = {};
    std::optional<Clock::time_point> missing = {};  // since when squeue does not know it
    std::optional<AttemptEnd> ended = {};           // by a signal: Slurm may know why
    bool judged = false;                            // an answer to what became of it is under way
    std::string id = {};                            // of its job in Slurm, without the index
    std::string reason = {};                        // as squeue has it
    std::string node = {};
    std::string gpus = {};
    std::string note = {};
  };
  struct Batch {
    std::string name;
    std::string folder;
    std::vector<std::string> options;
    std::vector<std::string> environment;
    std::vector<Element> elements;
    /// Doubtful: sbatch may have submitted it; squeue will tell.
    enum class State : std::uint8_t {
      Writing,
      Ready,
      Sending,
      Doubtful,
      Sent
    } state = State::Writing;
    int send = 0;
    std::string id;                // that Slurm gave it last
    Clock::time_point since = {};  // when it was sent, or when that became doubtful
    Clock::time_point retry = {};  // not before
    bool confirmed = false;
    std::string trouble;

    std::size_t open = 0;  // elements that are not over
    std::size_t kept = 0;  // elements that are not forgotten
  };
  struct Place {
    Batch* batch = nullptr;
    std::uint32_t index = 0;
  };

  Element* find(JobId job, Place* place = nullptr);
  void keep_place(Batch& batch, std::uint32_t index);
  static void leave(Batch& batch, std::uint32_t index);
  std::string call_id(const Batch& batch, std::uint32_t index) const;
  SlurmCall call(std::vector<std::string> words) const;
  void log(const std::string& text) const;
  void wake(Clock::time_point when);
  void go_on();

  // Handing in (slurm_submit.cc).
  void form_batches();
  void write(Batch& batch, std::shared_ptr<BatchOrder> order);
  void write_later(const std::string& name, std::shared_ptr<BatchOrder> order);
  void send_ready(Clock::time_point now);
  void send(Batch& batch);
  void sent(const std::string& name, const SlurmAnswer& answer);
  void refuse(Batch& batch, const std::string& why);

  // Following (slurm_track.cc).
  void look_at_records(Clock::time_point now);
  void take_records(const std::vector<RecordScout::Found>& found);
  void look_at_queue(Clock::time_point now);
  void take_queue(const SlurmAnswer& answer, Clock::time_point asked);
  void settle_batch(Batch& batch, const std::vector<const SqueueRow*>& rows,
                    Clock::time_point asked);
  bool any_missing() const;
  bool ask_for_missing(Clock::time_point now);
  void take_missing(const std::vector<std::pair<std::string, std::uint32_t>>& asked,
                    const SlurmAnswer& answer);
  void learn_facts(Clock::time_point now);

  // Judging what left no record (slurm_judge.cc).
  void judge(Batch& batch, std::uint32_t index, const SqueueRow* row);
  void judge_started(Batch& batch, std::uint32_t index, const SqueueRow* row);
  void judge_unstarted(Batch& batch, std::uint32_t index, const SqueueRow* row);
  void judge_signalled(Batch& batch, std::uint32_t index, const SqueueRow* row);

  // Ending (slurm_target.cc).
  void end(Batch& batch, std::uint32_t index, AttemptEnd end);
  void cancel(const Batch& batch, std::uint32_t index, std::string_view how);
  void call_off();
  void drop_if_done(Batch& batch);

  SlurmSettings settings_;
  Run run_;
  std::string mark_;  // what the names of this folder's batches begin with
  std::map<std::string, std::unique_ptr<Batch>> batches_;
  std::map<std::string, std::shared_ptr<BatchOrder>> unwritten_;  // for want of room, by batch
  std::map<JobId, Place> jobs_;  // the newest attempt of each job that is not forgotten
  std::vector<ShimLaunch> gathered_;
  Clock::time_point gather_until_ = {};
  std::vector<AttemptStart> starts_;
  std::vector<AttemptEnd> ends_;
  std::map<std::string, std::vector<std::string>> cancels_;  // by the options of scancel
  ClusterFacts facts_;
  std::string trouble_;
  RecordScout scout_;  // used by the thread of files_
  bool looking_at_records_ = false;
  bool looking_at_queue_ = false;
  bool learning_ = false;
  Clock::time_point next_records_ = {};
  Clock::time_point next_queue_ = {};
  Clock::time_point next_facts_ = {};
  Clock::time_point last_call_ = {};  // of squeue
  Clock::duration queue_pause_ = {};
  bool asked_last_ = false;  // the last call was for jobs that were missing
  Clock::time_point wake_ = Clock::time_point::max();
  Fd timer_;
  Fd events_;  // of the timer and the chores
  Chores files_;
  Chores talk_;
};

}  // namespace berth
