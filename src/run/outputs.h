// JobOutputs: captures the output of jobs when berth has to see it. Each job writes into pipes.
// Whole lines go to the observer, or everything goes into one log file per attempt. When a log
// cannot be written, the output is lost and counted, but the job goes on. That is why the job does
// not hold the log file itself. A job that has the screen to itself writes into a pseudo-terminal,
// so that it draws as it would without berth, and what it writes goes on at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/fd.h"
#include "base/ids.h"
#include "base/result.h"
#include "run/observer.h"
#include "run/poller.h"

namespace berth {

class JobOutputs {
 public:
  /// Where a job's streams go: to berth's own streams, or captured.
  struct Options {
    std::string log_folder;       // empty: no files
    bool capture_stdout = false;  // give lines to the observer
    bool capture_stderr = false;
    /// The job has the screen to itself: of its streams, those that would go to a terminal go there
    /// byte by byte.
    bool has_screen = false;
  };
  JobOutputs(Options options, Poller& poller, RunObserver& observer);

  /// Makes sure that the folder for logs exists and can be written.
  Result<void> prepare();

  struct Writers {
    int stdout_fd = 1;
    int stderr_fd = 2;
  };
  /// Descriptors for a job that is about to start. Call release_writers() after the job has
  /// started.
  Writers open(JobId job, std::string_view name);
  void release_writers();

  /// The end of the job's output so far, as far as berth sees it.
  std::string_view tail(JobId job);

  /// Takes the rest of the output from the pipes. Returns how many bytes the job printed, as far as
  /// berth saw them.
  std::uint64_t finish(JobId job);

  std::uint64_t lost() const { return lost_; }

 private:
  struct Stream {
    JobId job;
    bool is_stderr = false;
    Fd reader;
    int screen = -1;      // the terminal that a pseudo-terminal stands for; -1: it is a pipe
    std::string partial;  // a line that has not ended yet
  };
  struct Job {
    std::vector<std::unique_ptr<Stream>> streams;
    Fd log;
    std::string log_path;
    bool log_broken = false;
    std::uint64_t bytes = 0;
    std::string tail;  // of both streams
  };

  int add_stream(Job& job, JobId id, bool is_stderr);
  int add_screen(Job& job, JobId id, int screen);
  void follow(std::unique_ptr<Stream> stream, Job& job);
  bool pull(Stream& stream);
  void take(Stream& stream, std::string_view bytes);
  void write_log(Job& job, std::string_view bytes);
  Fd open_log(JobId job, std::string_view name, std::string& path);

  Options options_;
  Poller& poller_;
  RunObserver& observer_;
  std::unordered_map<std::uint64_t, Job> jobs_;
  std::vector<Fd> writers_;
  std::uint64_t lost_ = 0;
};

}  // namespace berth
