// Daemon: the durable host of the scheduler, put together from its parts.
//
//   StateFolder    the lock, the log, the database
//   Turns          commits the changes of a turn, then does what was promised
//   Driver         decides (src/drive)
//   ShimHost       carries out the driver's decisions
//   JournalKeeper  keeps the journal from growing forever
//   DaemonDevices  the devices, and what users want done with them
//   JobReports     what clients are told about jobs
//   Requests       the server, and a handler for each request
//
// Everything happens in turns of one loop, on one thread. The driver and the store are told what
// came in; the driver decides; one commit makes all of it durable; only then are jobs started and
// requests answered. So everything that was acknowledged is on disk, whatever crashes.
#pragma once

#include <memory>

#include "daemon/job_files.h"
#include "daemon/journal_keeper.h"
#include "daemon/requests.h"
#include "daemon/shim_host.h"
#include "daemon/spill.h"
#include "daemon/targets.h"

namespace berth {

class Daemon {
 public:
  /// Takes the lock, opens everything and takes over the jobs of the previous daemon.
  static Result<std::unique_ptr<Daemon>> make(const DaemonOptions& options);

  /// Runs until a request or a signal stops the daemon.
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
  std::unique_ptr<Targets> runner_;
  std::unique_ptr<Turns> turns_;
  std::unique_ptr<EventHub> events_;
  DaemonDevices devices_;
  std::unique_ptr<JobFiles> files_;
  std::unique_ptr<JournalKeeper> keeper_;
  std::unique_ptr<ShimHost> host_;
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<Desk> desk_;
  std::unique_ptr<JobReports> reports_;
  std::unique_ptr<Spill> spill_;
  std::unique_ptr<Requests> requests_;
};

}  // namespace berth
