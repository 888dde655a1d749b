// Requests about the daemon itself.
#pragma once

#include <string>
#include <vector>

#include "api/budgets.h"
#include "api/messages/status.h"
#include "daemon/desk.h"
#include "daemon/routes.h"
#include "daemon/shadow.h"
#include "daemon/shim_host.h"
#include "daemon/watchdog.h"
#include "daemon/whatif.h"

namespace berth {

/// What the daemon says about itself beyond what is on the desk.
struct DaemonFacts {
  std::string home;        // the state folder
  Time opened{};           // when it was started
  std::string listening;   // HOST:PORT; empty: not on TCP
  const Budgets& budgets;  // what clients have and may have
  const Watchdog& watchdog;
  const Shadow& shadow;
  std::vector<std::string> clusters;  // by name
};

/// Memory of this process; 0 when unknown.
std::uint64_t resident_bytes();
/// How long turns take, how much memory the daemon uses, and how much of it each user has. The
/// owner and root see every user, other users only themselves.
LoadReport load_report(const Desk& desk, const DaemonFacts& facts, const Peer& viewer);

/// Announces the event `daemon`: the way the daemon decides has changed.
void announce_daemon(Desk& desk);

/// GET /v1/status. Requests that change the daemon get the same answer.
HttpResponse status_answer(const Desk& desk, const DaemonFacts& facts, const Peer& viewer);
/// POST /v1/daemon/pause and resume
HttpResponse set_paused(Desk& desk, const DaemonFacts& facts, const RoutedRequest& asked);
/// POST /v1/daemon/policy
HttpResponse set_policy(Desk& desk, const DaemonFacts& facts, const RoutedRequest& asked);
/// GET /v1/policies
HttpResponse list_policies();
/// GET /metrics: the state of the daemon for Prometheus, in base units.
HttpResponse show_metrics(const Desk& desk, const DaemonFacts& facts);
/// GET /v1/events
void listen_to_events(Desk& desk, RoutedRequest asked);
/// POST /v1/advice
void ask_advice(Desk& desk, Whatif& whatif, RoutedRequest asked);
/// POST /v1/daemon/shadow: names another policy, or plays the last day again.
void ask_shadow(Desk& desk, Shadow& shadow, const DaemonFacts& facts, RoutedRequest asked);
/// POST /v1/whatif
void ask_whatif(Desk& desk, Whatif& whatif, RoutedRequest asked);

}  // namespace berth
