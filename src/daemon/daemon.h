// Daemon: the durable host of the scheduler, put together from its parts.
//
//   StateFolder    the lock, the log, the database
//   Turns          commits what a turn brought, then does what was promised
//   Driver         decides (src/drive)
//   ShimHost       carries out what the driver decides
//   JournalKeeper  keeps the journal from growing for ever
//   DaemonDevices  the devices, and what users want done with them
//   JobReports     what clients are told of jobs
//   Requests       the server, and a handler for each request
//
// Everything happens in turns of one loop, on one thread: what came in is told to the driver and
// the store; the driver decides; one commit makes all of it durable; only then are jobs started and
// requests answered. So what was acknowledged is on disk, whatever dies.
#pragma once

#include <memory>

#include "daemon/job_files.h"
#include "daemon/journal_keeper.h"
#include "daemon/requests.h"
#include "daemon/shim_host.h"

namespace berth {

class Daemon {
 public:
  /// Takes the lock, opens everything and takes up the jobs of the daemon before.
  static Result<std::unique_ptr<Daemon>> make(const DaemonOptions& options);

  /// Until it is told to stop, by a request or a signal.
  void run();

 private:
  explicit Daemon(const DaemonOptions& options) : options_(options) {}

  // Opening (open.cc).
  Result<void> open();
  Result<void> open_driver();
  void open_desk();
  Result<void> take_up();

  // Turns (daemon.cc).
  void watch_everything();
  Fd watch_signals();
  void make_good(const StateFiles::Gone& gone);
  void turn();
  void decide(Time at);
  void set_alarm();
  void end_turn(Duration took);

  DaemonOptions options_;
  Loop loop_;
  StateFolder state_;
  DaemonClock clock_;
  std::unique_ptr<ShimRunner> runner_;
  std::unique_ptr<Turns> turns_;
  std::unique_ptr<EventHub> events_;
  DaemonDevices devices_;
  std::unique_ptr<JobFiles> files_;
  std::unique_ptr<JournalKeeper> keeper_;
  std::unique_ptr<ShimHost> host_;
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<Desk> desk_;
  std::unique_ptr<JobReports> reports_;
  std::unique_ptr<Requests> requests_;
};

}  // namespace berth
