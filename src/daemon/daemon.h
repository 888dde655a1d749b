// Daemon: the durable driver of the scheduler. Everything happens in turns of one loop: what came
// in is told to the scheduler and the store; at the end of the turn one commit makes all of it
// durable; only then are jobs started and requests answered. So what was acknowledged is on disk,
// whatever dies.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/http_server.h"
#include "api/loop.h"
#include "api/messages.h"
#include "base/fd.h"
#include "base/paths.h"
#include "core/scheduler.h"
#include "daemon/start.h"
#include "exec/shim_runner.h"
#include "gpu/devices.h"
#include "store/store.h"

namespace berth {

class Daemon {
 public:
  /// Takes the lock, opens everything and takes up the jobs of the daemon before.
  static Result<std::unique_ptr<Daemon>> make(const DaemonOptions& options);

  /// Until stop() or a signal.
  void run();

 private:
  using Reply = std::unique_ptr<Responder>;

  Daemon() = default;
  Result<void> open(const DaemonOptions& options);
  Result<void> restore();
  std::vector<DeviceId> find_devices(const std::vector<std::string>& names) const;
  void watch_signals();

  // Turns (daemon.cc).
  Time now() const;
  void turn();
  ShimLaunch launch_for(const StartJob& what);
  void start_after_commit(ShimLaunch launch);
  void record(const StartJob& action, Time at);
  void record(const StopJob& action, Time at);
  void record(const JobRequeued& action, Time at);
  void record(const JobEnded& action, Time at);
  void take_shim_events();
  void take_end(const AttemptEnd& end, Time at);
  void after_commit(std::function<void()> effect) { effects_.push_back(std::move(effect)); }
  static void check(const Result<void>& stored);

  // Requests (requests.cc).
  void handle(HttpRequest request, Reply reply);
  void answer(Reply reply, HttpResponse response);
  HttpResponse submit(const HttpRequest& request);
  Result<void> settle_dependencies(JobSpec& spec);
  HttpResponse list(const HttpRequest& request);
  HttpResponse show(JobId id);
  HttpResponse command(const HttpRequest& request, std::string_view verb);
  HttpResponse status() const;
  void wait(const HttpRequest& request, Reply reply);
  void settle_waiters(JobId ended, bool failed_job);
  JobReport report(const JobRecord& record);
  static std::string expand_path(const std::string& pattern, const JobRecord& job);

  struct Waiter {
    std::set<JobId> jobs;     // that have not ended yet
    bool everything = false;  // or all there are
    std::uint64_t failed = 0;
    Reply reply;
  };

  Paths paths_;
  Fd lock_;
  Loop loop_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<ShimRunner> runner_;
  std::unique_ptr<Devices> devices_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<HttpServer> server_;
  Fd signals_;
  std::vector<std::function<void()>> effects_;  // of this turn, for when it is on disk
  std::vector<Waiter> waiters_;
  Duration
      to_wall_{};  // what turns the steady clock into wall time; fixed, so time never goes back
  bool commit_failed_ = false;
};

}  // namespace berth
