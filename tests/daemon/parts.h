// The parts of a daemon, put together by a test: a real store in its own folder, a real driver with
// two simulated devices, and a runner that starts nothing and records its calls.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "daemon/job_files.h"
#include "daemon/job_reports.h"
#include "daemon/recording_replies.h"
#include "daemon/requests.h"
#include "daemon/restore.h"
#include "daemon/shim_host.h"

namespace berth {

class FakeRunner final : public ShimRunner {
 public:
  std::vector<AttemptStart> adopt() override { return running; }
  bool may_have_run(JobId, std::uint16_t, bool) const override { return records_are_gone; }
  Result<void> start(const ShimLaunch& launch) override {
    if (broken) {
      return fail(ErrorCode::Io, "no launcher");
    }
    launches.push_back(launch);
    return {};
  }
  void stop(JobId job, StopSignal signal) override {
    told.push_back((signal == StopSignal::Kill ? "kill " : "stop ") + std::to_string(job.value));
  }
  bool pause(JobId job, bool stopped) override {
    told.push_back((stopped ? "pause " : "resume ") + std::to_string(job.value));
    return true;
  }
  void send(JobId job, int signal) override {
    told.push_back("signal " + std::to_string(signal) + " " + std::to_string(job.value));
  }
  int event_fd() const override { return -1; }
  std::vector<AttemptStart> take_starts() override { return std::exchange(starts, {}); }
  std::vector<AttemptEnd> take_ends() override { return std::exchange(ends, {}); }
  void forget(JobId job, std::uint16_t attempt) override { forgotten.push_back({job, attempt}); }

  // State left by an earlier daemon.
  std::vector<AttemptStart> running;
  bool records_are_gone = false;
  // What shims report next.
  std::vector<AttemptStart> starts;
  std::vector<AttemptEnd> ends;
  bool broken = false;
  // Recorded calls.
  std::vector<ShimLaunch> launches;
  std::vector<std::string> told;
  std::vector<std::pair<JobId, std::uint16_t>> forgotten;
};

/// All parts except the loop over signals and descriptors; turn() replaces it.
class DaemonParts {
 public:
  explicit DaemonParts(const std::string& folder, DaemonOptions wanted = {})
      : options(std::move(wanted)) {
    ::setenv("BERTH_HOME", folder.c_str(), 1);
    ::setenv("BERTH_SIM_STATE", (folder + "/sim").c_str(), 1);
    ::setenv("BERTH_LOCKS", (folder + "/locks").c_str(), 1);
    ::mkdir((folder + "/locks").c_str(), 0700);
    must(state.open(options.everyone));
    must(state.open_store());
    must(clock.go_on(state.store(), "boot", state.log()));
    turns.emplace(loop, state.store(), clock, state.log());
    files.emplace(state, clock);
    must(devices.open(state.store(), "sim:2x8GiB"));
    host.emplace(ShimHost::Parts{loop, turns->watchdog(), clock, state.log(), runner, devices,
                                 *files, folder});
    DriverOptions driver_options;
    driver_options.mark = folder;
    driver_options.journal = [this](const JournalInput& input, Time at) {
      turns->check(state.store().journal().append(at, input));
    };
    Result<std::unique_ptr<Driver>> made =
        Driver::make(std::move(driver_options), devices.group(), *host);
    driver = std::move(*made);
    events.emplace(1, [this](JobId id) { return reports->described(id); });
    desk.emplace(Desk{options, clock, state.log(), state.store(), *driver, *turns, *events,
                      FairUse(options.per_user, ::getuid())});
    reports.emplace(*desk, devices);
    requests.emplace(
        Requests::Parts{*desk, loop, state, runner, devices, *reports, *files, clock.now()});
    host->use(*desk, requests->listeners());
  }

  static void must(const Result<void>& done) {
    if (!done) {
      ADD_FAILURE() << done.error().message;
    }
  }

  Result<void> restore() {
    return restore_jobs({*desk, *host, runner, devices, state.paths().state});
  }

  /// One turn of the loop, including posted calls. False if the disk refuses.
  bool turn() {
    bool committed = false;
    loop.post([] {});
    loop.run([&] {
      turns->resume_long_work();
      host->take_shim_events();
      if (!turns->stuck()) {
        driver->decide(clock.now());
        driver->settle();
      }
      committed = turns->finish(clock.now());
      requests->end_turn();
      loop.stop();
    });
    return committed;
  }

  /// Sends a request through the interface and runs turns until it is answered.
  HttpResponse ask(std::string method, std::string path, std::string body = "",
                   std::vector<std::pair<std::string, std::string>> query = {}) {
    const auto received = std::make_shared<Received>();
    HttpRequest request;
    request.method = std::move(method);
    request.path = std::move(path);
    request.body = std::move(body);
    request.query = std::move(query);
    request.peer.uid = peer;
    request.peer.local = true;
    requests->handle(std::move(request), std::make_unique<RecordingResponder>(received));
    for (int i = 0; i < 100 && !received->response; ++i) {
      turn();
    }
    return received->response.value_or(HttpResponse{0, "", "no answer", {}});
  }
  HttpResponse submit(const std::string& fields) {
    return ask("POST", "/v1/jobs", R"({"jobs":[{"directory":"/",)" + fields + "}]}");
  }

  JobPhase phase(std::uint64_t job) { return *state.store().jobs().phase(JobId{job}); }
  void starts(std::uint64_t job, std::uint16_t attempt = 1) {
    runner.starts.push_back({JobId{job}, attempt, 4711, ""});
    turn();
  }
  void ends(std::uint64_t job, int code, std::uint16_t attempt = 1) {
    AttemptEnd end;
    end.job = JobId{job};
    end.attempt = attempt;
    end.code = code;
    runner.ends.push_back(end);
    turn();
  }

  DaemonOptions options;
  uid_t peer = ::getuid();
  Loop loop;
  StateFolder state;
  DaemonClock clock;
  FakeRunner runner;
  std::optional<Turns> turns;
  std::optional<EventHub> events;
  DaemonDevices devices;
  std::optional<JobFiles> files;
  std::optional<ShimHost> host;
  std::unique_ptr<Driver> driver;
  std::optional<Desk> desk;
  std::optional<JobReports> reports;
  std::optional<Requests> requests;
};

class PartsTest : public ::testing::Test {
 protected:
  PartsTest() {
    std::string pattern = ::testing::TempDir() + "berth-parts-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~PartsTest() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
};

}  // namespace berth
