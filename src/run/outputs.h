// JobOutputs: what jobs print, when berth is to look at it. Each job writes into pipes; whole lines
// go to the observer, or everything into one log file per attempt. A log that cannot be written
// costs the output and is counted, but the job goes on: that is why it does not hold the file
// itself.
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
  /// Where a job's streams go: kept by berth's own, or captured.
  struct Options {
    std::string log_folder;       // empty: no files
    bool capture_stdout = false;  // give lines to the observer
    bool capture_stderr = false;
  };
  JobOutputs(Options options, Poller& poller, RunObserver& observer);

  /// The folder for logs exists and can be written.
  Result<void> prepare();

  struct Writers {
    int stdout_fd = 1;
    int stderr_fd = 2;
  };
  /// Descriptors for a job that is about to start, and after it has started they are to be
  /// released.
  Writers open(JobId job, std::string_view name);
  void release_writers();

  /// The end of what the job has printed so far, as far as berth sees it.
  std::string_view tail(JobId job);

  /// Takes what is still in the pipes. Returns how many bytes the job printed, as far as berth saw.
  std::uint64_t finish(JobId job);

  std::uint64_t lost() const { return lost_; }

 private:
  struct Stream {
    JobId job;
    bool is_stderr = false;
    Fd reader;
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
