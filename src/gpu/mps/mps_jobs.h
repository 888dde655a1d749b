// MpsJobs: the jobs of one MPS control daemon: which of them wait for it, whether they go through
// it, and the events by which they hear what becomes of it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"

namespace berth {

struct MpsEvent {
  enum class Kind {
    Ready,    // the control daemon of these jobs answers: those that waited for it may start
    Failed,   // it cannot be started: those that wait for it must not
    Died,     // it died under these jobs, and is started again
    NotUsed,  // this job works on its device, but not through MPS
  };
  Kind kind;
  std::vector<JobId> jobs;
  std::string text;  // for the user; empty: nothing to tell
};

class MpsJobs {
 public:
  /// `device`: its name. `seen`: somebody sees who works on the device. `events` is borrowed.
  MpsJobs(std::string device, bool seen, std::vector<MpsEvent>& events);

  bool empty() const { return jobs_.empty(); }
  bool contains(JobId job) const { return jobs_.contains(job); }
  void add(JobId job) { jobs_.insert(job); }
  /// The job is one of them, and is to be told when the control daemon answers.
  void wait(JobId job) { waiting_.insert(job); }
  /// The job has ended, or will not start.
  void release(JobId job);
  /// The job holds memory on the device.
  void at_work(JobId job);
  /// The control daemon is to be asked whether this job goes through it.
  const std::optional<JobId>& suspect() const { return suspect_; }

  /// The control daemon answers, with the ids of its servers.
  void ready(const std::vector<pid_t>& servers);
  /// It cannot be started: who waits for it is told so, and leaves.
  void fail(const std::string& why);
  void died();
  /// What it has answered about the suspect; nothing: it has not. `pipe` is where clients find it.
  void judge(const std::optional<std::vector<pid_t>>& servers, const std::string& pipe);

 private:
  std::string device_;
  bool seen_;
  std::vector<MpsEvent>& events_;
  std::set<JobId> jobs_;
  std::set<JobId> waiting_;  // those of them that have not been told that it is ready
  std::optional<JobId> suspect_;
  bool used_ = false;  // there has been a server, or nobody can tell any more
  bool told_ = false;  // that there was none
};

}  // namespace berth
