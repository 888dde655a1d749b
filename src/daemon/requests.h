// Requests: the daemon's front end. It has the server, the table of routes, and the parts that
// answer requests and keep state between them.
#pragma once

#include <memory>

#include "api/http_server.h"
#include "daemon/handlers/daemon.h"
#include "daemon/handlers/facets.h"
#include "daemon/handlers/job_commands.h"
#include "daemon/handlers/submit_jobs.h"
#include "daemon/handlers/submit_texts.h"
#include "daemon/handlers/totals.h"
#include "daemon/job_files.h"
#include "daemon/job_pauses.h"
#include "daemon/job_reports.h"
#include "daemon/log_reader.h"
#include "daemon/reading_books.h"
#include "daemon/routes.h"
#include "daemon/shadow.h"
#include "daemon/state_folder.h"
#include "daemon/targets.h"
#include "daemon/waiters.h"
#include "daemon/web_access.h"
#include "daemon/whatif.h"

namespace berth {

class Requests {
 public:
  struct Parts {
    Desk& desk;
    Loop& loop;
    StateFolder& state;
    ShimRunner& runner;
    DaemonDevices& devices;
    JobReports& reports;
    JobFiles& files;
    Time opened;                 // when the daemon was started
    Targets* targets = nullptr;  // nullptr: there are no clusters
  };
  explicit Requests(const Parts& parts);

  /// Starts to answer requests.
  Result<void> open();
  /// Opens the Unix socket. Call it again if the socket was deleted.
  Result<void> listen_on_socket();
  const std::string& listening() const { return web_.listening(); }

  /// Answers a request, now or later. Called by the server.
  void handle(HttpRequest request, std::unique_ptr<Responder> reply);

  /// The callbacks that the host must call.
  HostListeners listeners();
  /// Readable when output that a client waits for has changed; then call output_changed().
  int output_event_fd() const { return logs_.event_fd(); }
  void output_changed() { logs_.files_changed(); }

  /// At the start: drops half submissions of a daemon that died.
  void drop_half_submissions();
  /// When the daemon stops: saves what the next one must know.
  void save() { books_.save(parts_.devices.list()); }
  /// At the beginning of a turn.
  void begin_turn(Time at);
  /// At the end of a turn, when its changes are on disk: tells the clients that wait for them.
  void end_turn();
  /// When there is something to do, even if nothing happens before.
  Time due() const;

 private:
  std::vector<RouteTable::Route> all_routes();
  /// A handler that answers at once.
  using Answer = std::function<HttpResponse(const RoutedRequest&)>;
  RouteTable::Handler at_once(Answer answer);
  HttpResponse stop(const RoutedRequest& asked);
  DaemonFacts facts() const;
  void settle_waiters();

  Parts parts_;
  HttpServer server_;
  WebAccess web_;
  ReadingBooks books_;
  JobPauses pauses_;
  Waiters waiters_;
  LogReader logs_;
  Whatif whatif_;
  Shadow shadow_;
  JobCommands commands_;
  SubmitJobs submit_;
  SubmitTexts texts_;
  FacetsHandler facets_;
  TotalsHandler totals_;
  RouteTable routes_;
  Worker worker_;  // last, because its tasks use the others
};

}  // namespace berth
