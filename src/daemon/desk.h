// Desk: the objects that request handlers work with. Handlers look at the scheduler and the store,
// tell the scheduler what a client wants (driver.scheduler().tell()), record it in the store, and
// answer when it is on disk (answer()).
#pragma once

#include <unistd.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "api/http_server.h"
#include "core/owners.h"
#include "daemon/daemon_clock.h"
#include "daemon/daemon_log.h"
#include "daemon/events.h"
#include "daemon/fair_use.h"
#include "daemon/open_outputs.h"
#include "daemon/privacy.h"
#include "daemon/recent_submissions.h"
#include "daemon/replies.h"
#include "daemon/start.h"
#include "daemon/turns.h"
#include "drive/driver.h"
#include "slurm/slurm_standing.h"
#include "store/store.h"

namespace berth {

/// Counts since the daemon started.
struct JobCounters {
  std::uint64_t started = 0;                   // attempts
  std::array<std::uint64_t, kPhases> ended{};  // jobs, by how they ended
};

struct Desk {
  const DaemonOptions& options;
  const DaemonClock& clock;
  DaemonLog& log;
  Store& store;
  Driver& driver;
  Turns& turns;
  EventHub& events;
  // What is known about all users and their jobs.
  FairUse fair_use = {};
  Privacy privacy = {};
  Owners owners = Owners();
  RecentSubmissions recent = {};
  OpenOutputs outputs = {};
  JobCounters counters = {};
  /// Whether a job's cluster could run it; empty: there are no clusters.
  std::function<Result<void>(const JobSpec&)> check_cluster = {};
  /// How a job's attempt on a cluster stands; empty: there are no clusters.
  std::function<std::optional<SlurmStanding>(JobId)> find_standing = {};

  Time now() const { return clock.now(); }
  std::optional<SlurmStanding> standing(JobId job) const {
    return find_standing ? find_standing(job) : std::nullopt;
  }
  const Scheduler& scheduler() const { return driver.view(); }
  void answer(std::unique_ptr<Responder> reply, HttpResponse response) const {
    turns.answer(std::move(reply), std::move(response));
  }
  void check(const Result<void>& stored) const { turns.check(stored); }

  /// Root and the daemon's own user may change everything.
  static bool may_change(const Peer& peer, uid_t owner) {
    return peer.uid == owner || peer.uid == 0 || peer.uid == ::getuid();
  }
  static bool may_steer(const Peer& peer) { return may_change(peer, ::getuid()); }
  /// `what` goes to the log, so it must not grow with text that a client may choose freely.
  void note_refusal(const Peer& peer, std::string_view what) const {
    log.write("user {} was refused {}", peer.uid, what);
  }
};

}  // namespace berth
