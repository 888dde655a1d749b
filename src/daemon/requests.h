// Requests: the daemon's front. It has the server, the table of routes, and the parts that answer
// requests and remember something between two of them.
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
#include "daemon/state_folder.h"
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
    Time opened;  // when the daemon was started
  };
  explicit Requests(const Parts& parts);

  /// Answers from here on.
  Result<void> open();
  /// The Unix socket, which somebody may have deleted.
  Result<void> listen_on_socket();
  const std::string& listening() const { return web_.listening(); }

  /// Answers a request, now or later; the server calls it.
  void handle(HttpRequest request, std::unique_ptr<Responder> reply);

  /// What the host is to tell.
  HostListeners listeners();
  /// Readable when output has changed that somebody waits for; then call output_changed().
  int output_event_fd() const { return logs_.event_fd(); }
  void output_changed() { logs_.files_changed(); }

  /// At the start: half a submission of a daemon that died is dropped.
  void drop_half_submissions();
  /// When the daemon stops: what the next one is to know.
  void save() { books_.save(parts_.devices.list()); }
  /// At the beginning of a turn.
  void begin_turn(Time at);
  /// At its end, when what happened is on disk: tells those who wait for it.
  void end_turn();
  /// When there is something to do, if nothing happens before.
  Time due(Time at) const;

 private:
  std::vector<RouteTable::Route> all_routes();
  /// A handler that has its answer at once.
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
  JobCommands commands_;
  SubmitJobs submit_;
  SubmitTexts texts_;
  FacetsHandler facets_;
  TotalsHandler totals_;
  RouteTable routes_;
  Worker worker_;  // last: what it runs uses the others
};

}  // namespace berth
