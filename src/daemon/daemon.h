// Daemon: the durable driver of the scheduler. Everything happens in turns of one loop: what came
// in is told to the scheduler and the store; at the end of the turn one commit makes all of it
// durable; only then are jobs started and requests answered. So what was acknowledged is on disk,
// whatever dies.
#pragma once

#include <array>
#include <deque>
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
#include "core/owners.h"
#include "daemon/daemon_log.h"
#include "daemon/device_history.h"
#include "daemon/events.h"
#include "daemon/fair_use.h"
#include "daemon/forecast_book.h"
#include "daemon/history.h"
#include "daemon/kept_answer.h"
#include "daemon/log_folder.h"
#include "daemon/log_reader.h"
#include "daemon/privacy.h"
#include "daemon/sessions.h"
#include "daemon/start.h"
#include "daemon/state_files.h"
#include "daemon/usage_book.h"
#include "daemon/user_files.h"
#include "daemon/waiters.h"
#include "daemon/watchdog.h"
#include "daemon/whatif.h"
#include "daemon/worker.h"
#include "drive/driver.h"
#include "exec/shim_runner.h"
#include "gpu/device_group.h"
#include "gpu/locks/device_locks.h"
#include "store/store.h"

namespace berth {

/// The user's home folder, or / where nobody knows it.
std::string home_of(uid_t user);

class Daemon : private Host {
 public:
  /// Takes the lock, opens everything and takes up the jobs of the daemon before.
  static Result<std::unique_ptr<Daemon>> make(const DaemonOptions& options);

  /// Until stop() or a signal.
  void run();

 private:
  using Reply = std::unique_ptr<Responder>;

  /// What only this host knows of an attempt that has devices; the driver knows the rest.
  struct Attempt {
    int warning_signal = 0;
    std::string stdout_path;
    std::string stderr_path;
    std::optional<ShimLaunch> launch;  // until it is handed to the runner
    Time ended = kNever;               // as its shim says
    std::optional<std::string> words;  // the end of its output, once somebody needs to know
    bool awaits_words = false;         // its end is settled when they have come
  };

  /// A job that was told to stop or to go on. Listeners hear of it when its processes have.
  struct Pausing {
    bool stopped = false;  // what it was told
    Time until;            // then it is told as it is
  };

  /// A request that has found its route.
  struct Asked {
    HttpRequest request;
    Reply reply;
    JobId job;              // whose number is in the path, if the route has one
    std::string_view verb;  // the last word of the route: "kill"
  };
  struct Route;

  /// A command on many jobs, carried out some at a time so that others are served meanwhile.
  struct Batch;

  Daemon() = default;

  // Opening (open.cc).
  Result<void> open(const DaemonOptions& options);
  Result<void> open_server(const DaemonOptions& options);
  Result<void> read_settings();
  Result<void> set_clock();
  void shift_starts(const std::vector<JobId>& running);
  static std::string boot_id_path();
  Result<void> open_driver(const DaemonOptions& options);
  Result<void> restore();
  Result<void> start_again(const StartJob& start, Time at);
  Result<void> learn_from_past();

  // Turns (daemon.cc).
  static Duration wall_clock();
  Time from_wall(std::int64_t nanoseconds) const;
  void turn();
  bool commit();
  void end_turn(Duration took);
  void watch_signals();
  void set_alarm();
  void journal(const JournalInput& input, Time at);
  const Scheduler& scheduler() const { return driver_->view(); }

  // What the driver wants (host.cc).
  Time now() const override;
  void watch(int fd, std::string_view what, std::function<void()> readable) override;
  void unwatch(int fd) override { loop_.unwatch(fd); }
  AttemptFacts begin(const StartJob& start, Time at) override;
  void launch(const StartJob& start, Time at) override;
  void stop(const StopJob& stop) override;
  void warn(JobId job) override;
  void ended(const Job& job, const Ended& ended, const DrivenAttempt* attempt, Time at) override;
  void requeued(const JobRequeued& requeued, const DrivenAttempt& attempt, Time at) override;
  void attempt_changed(JobId job) override { events_->job_changed(job); }
  void device_changed(DeviceId device, DeviceHealth before) override;
  void reading_taken(const Telemetry::Reading& reading, Time at) override;
  void blocked(const DeviceLocks::Obstacle& obstacle) override;
  void inform(const std::string& text) override { log_.write("{}", text); }
  Ending ending_of(const Ended& ended, JobId job, const DrivenAttempt* attempt) const;
  ShimLaunch launch_for(const StartJob& start, const JobRecord& job,
                        const StoredAttempt& attempt) const;
  void start_shim(JobId job);
  void take_shim_events();
  void take_start(const AttemptStart& start, Time at);
  void take_end(const AttemptEnd& end, Time at);
  void end_unstarted(JobId job, std::uint16_t attempt, AttemptOver over);
  void after_commit(std::function<void()> effect) { effects_.push_back(std::move(effect)); }
  void check(const Result<void>& stored);

  // The files of the daemon, and the room on their disk (state.cc).
  Result<void> open_store();
  Result<void> keep_lock();
  bool can_promise();
  void make_good(const StateFiles::Gone& gone);
  bool await_room(const ShimLaunch& launch);
  void settle_room(Time at);

  // What attempts have printed last (output_end.cc).
  void read_words(const AttemptEnd& end, std::string words, std::size_t file);
  bool await_words(const AttemptEnd& end);

  // Devices (devices.cc).
  Result<void> add_devices(const std::string& gpus);
  Result<void> save_devices();
  Result<void> open_locks();
  std::string explain_waiting(const Job& job, Explanation why) const;
  std::vector<std::string> device_names(bool DeviceState::*flag) const;
  HttpResponse list_devices(const HttpRequest& request);
  void change_devices(Asked asked);
  HttpResponse changed_devices(const HttpRequest& request, std::string_view verb);
  std::string devices_json() const;

  // Requests (routes.cc, requests.cc, metrics.cc).
  static const std::vector<Route>& routes();
  static std::vector<Route> all_routes();
  void handle(HttpRequest request, Reply reply);
  void go(const Route& route, HttpRequest request, Reply reply, std::optional<std::string_view> id);
  void answer(Reply reply, HttpResponse response);
  HttpResponse index(const HttpRequest& request);
  HttpResponse status(const HttpRequest& request);
  HttpResponse pause(const HttpRequest& request);
  HttpResponse resume(const HttpRequest& request);
  HttpResponse set_paused(const HttpRequest& request, bool paused);
  HttpResponse stop_daemon(const HttpRequest& request);
  HttpResponse metrics(const HttpRequest& request);
  void listen(Asked asked);
  bool may_change(const Peer& peer, uid_t owner) const;
  void note_refusal(const Peer& peer, std::string_view what);
  std::string load_for(const Peer& peer) const;  // load.cc
  uid_t user_of(const Peer& peer) const;

  // The web page (web.cc).
  static bool serve_page(const HttpRequest& request, Reply& reply);
  Result<TcpAccess> tcp_access();
  Result<void> open_tcp(const DaemonOptions& options);
  Result<void> listen_at(const std::string& address, bool force);
  Result<void> listen_anywhere();
  HttpResponse log_in(const HttpRequest& request);
  HttpResponse begin_session(const HttpRequest& request);
  HttpResponse end_session(const HttpRequest& request);
  Result<void> save_sessions();
  std::string status_for(const Peer& peer) const;

  // The policy (policy.cc).
  Result<void> choose_policy(const DaemonOptions& options, Placement& placement);
  void keep_policy(Placement placement);
  HttpResponse set_policy(const HttpRequest& request);
  HttpResponse list_policies(const HttpRequest& request);
  void announce_daemon();

  void ask_whatif(Asked asked);  // whatif.cc

  // Reading requests that queue jobs (reading.cc).
  using Finish = std::function<void(Reply)>;
  void submit(Asked asked);
  void queue_jobs(Reply reply, Result<SubmitRequest> wanted, const Peer& peer);
  void read_apart(Asked asked, std::function<Finish(std::string, const Worker::Turn&)> read);

  // Submission (submit.cc).
  void take_in(SubmitRequest wanted, const Peer& peer, Reply reply);
  HttpResponse take_in_now(SubmitRequest& wanted, uid_t user);
  static Error jobs_of_others();
  Result<void> count_in(const SubmitRequest& wanted, uid_t user, JobId first);
  static Error wrong_job(const SubmitRequest& wanted, std::size_t position, const Error& error);
  Result<void> settle_environment(SubmitRequest& submission, const Peer& peer);
  Result<void> check_job(SubmittedJob& job, uid_t user);
  static Result<void> check_warning(const JobSpec& spec);
  Result<void> settle_dependencies(JobSpec& spec) const;
  static void follow_earlier(std::vector<SubmittedJob>& jobs, std::size_t position,
                             const std::vector<JobId>& starts);

  // A submission of very many jobs, in pieces (intake.cc).
  struct Intake;
  void begin_intake(SubmitRequest wanted, uid_t user, Reply reply);
  void run_intake(const std::shared_ptr<Intake>& intake);
  bool continue_intake(Intake& intake);
  bool check_some(Intake& intake);
  bool write_some(Intake& intake);
  bool queue_some(Intake& intake);
  void refuse_intake(Intake& intake, const Error& error);
  void drop_staged(JobId first);
  bool join_intake(uid_t user, const std::string& token, Reply& reply);

  // Jobs (jobs.cc, commands.cc, waits.cc).
  struct JobList;
  void list(Asked asked);
  bool continue_list(JobList& list);
  void show(Asked asked);
  HttpResponse shown(JobId id, const Peer& peer);
  JobReport report(const JobRecord& record);
  EventHub::Described described(JobId id);
  void refresh_forecast();
  double expected_start(JobId id);
  Time expected_end(JobId id) const;
  void settle_pauses(Time at);
  void command(Asked asked);
  bool continue_batch(Batch& batch);
  void finish_batch(Batch& batch);
  Result<void> act(Batch& batch, const JobRecord& job);
  Result<void> rerun(const JobRecord& job, Time at);
  Result<void> edit(const JobRecord& job, const std::string& changes, uid_t editor, Time at);
  struct Forgetting;
  void forget(Asked asked);
  bool continue_forgetting(Forgetting& forgetting);
  void read_log(Asked asked);
  void wait(Asked asked);
  void settle_waiters();

  // Many jobs as one text (texts.cc).
  struct ReadText;
  void texts(Asked asked);
  HttpResponse checked_text(ReadText& read, uid_t user);
  void queue_text(Reply reply, ReadText& read, const Peer& peer);

  // What attempts use over time (usage.cc).
  void note_usage(Time at);
  void end_usage(JobId job, std::uint16_t attempt);
  void usage(Asked asked);

  // Many jobs at once, in pieces (scan.cc, job_ids.cc).
  struct JobScan {
    JobFilter filter;
    bool descending = false;
    bool commands = false;
    std::function<bool()> abandoned;  // whoever asked has gone: it ends, and tells nobody
  };
  struct IdList;
  static constexpr Duration kInOneGo = std::chrono::milliseconds(1);
  void in_pieces(std::function<bool()> piece, Duration in_one_go = kInOneGo);
  void go_on_with_long_work();
  /// The same for what writes: it waits while the disk refuses.
  void write_in_pieces(std::function<bool()> piece, Duration in_one_go = kInOneGo);
  void scan_jobs(JobScan wanted, std::function<void(const ScannedJob&)> visit,
                 std::function<void(const Result<void>&)> done);
  void job_ids(Asked asked);
  bool matches(IdList& list, const ScannedJob& job);
  void merge_ids(const std::shared_ptr<IdList>& list);
  Result<JobFilter> chosen_jobs(const HttpRequest& request) const;

  // What charts and filters are made of (facets.cc, totals.cc, charts.cc).
  struct Facets;
  struct Totals;
  void facets(Asked asked);
  void own_facets(Asked asked);
  std::string facets_json(const Facets& facets);
  void totals(Asked asked);
  void count_ends(const std::shared_ptr<Totals>& totals);
  static Result<Time> time_parameter(const HttpRequest& request, std::string_view name,
                                     Time otherwise);
  HttpResponse device_history(const HttpRequest& request);

  // Who has which devices when (timeline.cc).
  struct TimeSpans;
  void timeline(Asked asked);
  void add_present_spans(TimeSpans& spans);
  void add_expected_span(TimeSpans& spans, JobId id);
  const std::string& shared_json(TimeSpans& spans, std::int64_t text);
  std::vector<std::string> names_of(const std::vector<DeviceId>& devices) const;

  Paths paths_;
  Fd lock_;
  DaemonLog log_;
  DaemonOptions options_;
  Watchdog watchdog_{[this] { return now(); }};
  FairUse fair_use_;
  Privacy privacy_;
  std::string listening_;  // HOST:PORT, when asked to
  Sessions sessions_;
  std::string web_note_;  // why the page is not where it was
  Time opened_{};
  Loop loop_;
  std::unique_ptr<StateFiles> files_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<ShimRunner> runner_;
  DeviceGroup devices_;
  std::unique_ptr<DeviceLocks> locks_;
  std::set<JobId> awaiting_room_;           // start when their disk is no longer full
  Time room_due_ = kNever;                  // when to look for it
  std::vector<std::string> added_devices_;  // `--gpus` texts, beyond those of the start
  std::string policy_;                      // its name, with its settings: "energy:1500"
  Owners owners_;
  std::unique_ptr<EventHub> events_;
  LogFolder log_folder_;
  UserFiles user_files_{[this](const std::string& text) { log_.write(text); }};
  LogReader logs_{user_files_};
  History history_;
  std::unique_ptr<HttpServer> server_;
  Whatif whatif_{loop_};
  Fd signals_;
  std::vector<JobId> launches_;                  // of this turn, for when it is on disk
  std::vector<std::function<void()>> effects_;   // likewise
  std::deque<std::function<void()>> next_turn_;  // what is left to do, after others had theirs
  /// What nobody waits for is put on disk with the next thing that somebody waits for, or after
  /// this.
  static constexpr Duration kCommitDelay = std::chrono::milliseconds(100);
  Time commit_due_ = kNever;                       // what is not on disk yet must be by then
  std::deque<std::function<void()>> when_stored_;  // what waits for the disk to have room
  std::vector<std::shared_ptr<Intake>> intakes_;
  Waiters waiters_;
  std::map<JobId, Pausing> pausing_;
  std::map<JobId, Attempt> attempts_;
  ForecastBook forecast_;
  std::array<std::uint64_t, kPhases> ended_{};  // since the start, by how they ended
  std::uint64_t started_ = 0;
  /// What turns the steady clock into wall time. It is fixed, so time never goes back; and it is
  /// chosen so that it does not go back behind what an earlier daemon wrote down either.
  Duration to_wall_{};
  /// By how much the clock of an earlier daemon of this boot was behind: a time that it wrote down
  /// is this much later on the present one.
  Duration clock_shift_{};
  KeptAnswer facets_;
  std::vector<Reply> facets_waiting_;
  KeptAnswer totals_;
  Time totals_since_{};
  DeviceHistory device_history_;
  UsageBook usage_;
  bool commit_failed_ = false;
  std::string commit_problem_;  // in words
  std::unique_ptr<Driver> driver_;
  Worker worker_;  // last: what it runs uses the loop
};

}  // namespace berth
