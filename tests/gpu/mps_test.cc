// The supervisor of MPS control daemons, with a stand-in for NVIDIA's on PATH.
#include "gpu/mps/mps.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <sstream>

#include "gpu/fixture.h"

namespace berth {
namespace {

using Kind = MpsEvent::Kind;
constexpr auto kMpsDeadline = std::chrono::seconds(30);

DeviceInfo mps_device(std::string name, DeviceFamily family = DeviceFamily::Trusted) {
  DeviceInfo info;
  info.spec.name = name;
  info.family = family;
  info.visible = std::move(name);
  return info;
}

class MpsTest : public ::testing::Test {
 protected:
  Mps::Owner owner() const {
    return {"test " + folder_.path(), "BERTH_TEST_MPS=" + folder_.path()};
  }

  void TearDown() override {
    mps_.reset();
    Mps last(owner());
    last.take_over(devices_);
    last.finish();
    EXPECT_EQ(running(), std::vector<pid_t>{});
    // What a test that failed may have left.
    for (const pid_t pid : started()) {
      if (alive(pid)) {
        ::kill(pid, SIGKILL);
      }
    }
    EXPECT_FALSE(std::filesystem::exists(place(0)));
  }

  /// Takes events until one of this kind comes.
  MpsEvent wait_for(Kind kind) {
    const auto end = std::chrono::steady_clock::now() + kMpsDeadline;
    while (std::chrono::steady_clock::now() < end) {
      for (; !events_.empty(); events_.erase(events_.begin())) {
        if (events_.front().kind == kind) {
          MpsEvent event = events_.front();
          events_.erase(events_.begin());
          return event;
        }
      }
      pollfd ready{mps_->event_fd(), POLLIN, 0};
      (void)::poll(&ready, 1, 1000);
      events_ = mps_->take_events();
    }
    ADD_FAILURE() << "the event did not come";
    return {kind, {}, ""};
  }

  /// What the stand-ins have written down.
  std::vector<std::string> journal() const {
    std::ifstream file(folder_.path() + "/journal");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
      lines.push_back(line);
    }
    return lines;
  }
  std::vector<pid_t> of(const std::string& verb) const {
    std::vector<pid_t> pids;
    for (const std::string& line : journal()) {
      std::istringstream words(line);
      std::string word;
      pid_t pid = 0;
      if (words >> word >> pid && word == verb) {
        pids.push_back(pid);
      }
    }
    return pids;
  }
  std::vector<pid_t> started() const { return of("start"); }
  static bool alive(pid_t pid) {
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    std::string stat;
    std::getline(file, stat);
    return !stat.empty() && stat.substr(stat.rfind(')')).substr(2, 1) != "Z";
  }
  std::vector<pid_t> running() const {
    std::vector<pid_t> pids = started();
    std::erase_if(pids, [](pid_t pid) { return !alive(pid); });
    return pids;
  }
  void kill_hard(pid_t pid) {
    const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    ASSERT_EQ(::kill(pid, SIGKILL), 0);
    pollfd gone{process.get(), POLLIN, 0};
    ASSERT_EQ(::poll(&gone, 1, 10'000), 1);
  }

  /// What a job on the device finds in its environment.
  std::string variable(std::size_t index, const std::string& name, const Needs& needs) const {
    for (const auto& [key, value] : mps_->environment(devices_[index], needs)) {
      if (key == name) {
        return value.value_or("unset");
      }
    }
    return "inherited";
  }
  static Needs with_mps() {
    Needs needs;
    needs.mps = mps_of(::geteuid());
    return needs;
  }
  std::string place(std::size_t index) const {
    const Mps mps(owner());
    const std::string pipe = *mps.environment(devices_[index], with_mps()).front().second;
    return pipe.substr(0, pipe.rfind('/'));
  }
  /// A client as CUDA would be one.
  std::string connect(std::size_t index) const {
    const std::string command = fmt::format(
        "CUDA_MPS_PIPE_DIRECTORY={}/pipe {}/fake_mps/mps_client", place(index), BERTH_TESTS_DIR);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"),
                                                               &::pclose);
    char line[64] = "";
    return std::fgets(line, sizeof line, pipe.get()) == nullptr ? "" : line;
  }

  void use(std::uint64_t job, std::size_t index = 0) {
    const Result<bool> ready = mps_->use(JobId{job}, devices_[index], ::geteuid());
    ASSERT_TRUE(ready) << ready.error().message;
    if (!*ready) {
      EXPECT_EQ(wait_for(Kind::Ready).jobs, std::vector{JobId{job}});
    }
  }

  TempFolder folder_;
  ScopedVariable mark_{"FAKE_MPS", folder_.path().c_str()};
  ScopedVariable path_{"PATH",
                       fmt::format("{}/fake_mps:{}", BERTH_TESTS_DIR, std::getenv("PATH")).c_str()};
  std::vector<DeviceInfo> devices_ = {mps_device("0"), mps_device("1"),
                                      mps_device("2", DeviceFamily::Simulated)};
  std::vector<MpsEvent> events_;
  std::unique_ptr<Mps> mps_ = std::make_unique<Mps>(owner());
};

TEST_F(MpsTest, StartsOneForADeviceAndEndsItWithItsLastJob) {
  use(1);
  struct stat info {};
  ASSERT_EQ(::stat((place(0) + "/pipe").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
  ASSERT_EQ(::stat((place(0) + "/log").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
  use(2);  // there already
  use(3, 1);
  EXPECT_EQ(started().size(), 2U);
  EXPECT_EQ(journal()[0], fmt::format("start {} 0 {}/pipe", started()[0], place(0)));
  mps_->release(JobId{1});
  mps_->settle();
  EXPECT_EQ(running().size(), 2U);
  mps_->release(JobId{2});
  mps_->finish();
  EXPECT_EQ(of("quit"), std::vector{started()[0]});
  EXPECT_EQ(running(), std::vector{started()[1]});
  EXPECT_FALSE(std::filesystem::exists(place(0)));
  mps_->release(JobId{3});
  mps_->finish();
  EXPECT_EQ(of("quit").size(), 2U);
}

TEST_F(MpsTest, StaysWhenTheDeviceGoesFromJobToJob) {
  use(1, 2);
  mps_->release(JobId{1});
  EXPECT_TRUE(*mps_->use(JobId{2}, devices_[2], ::geteuid()));
  mps_->settle();
  mps_->release(JobId{2});
  mps_->settle();
  // While it quits a job comes: it gets a new one.
  EXPECT_FALSE(*mps_->use(JobId{3}, devices_[2], ::geteuid()));
  EXPECT_EQ(wait_for(Kind::Ready).jobs, std::vector{JobId{3}});
  EXPECT_EQ(started().size(), 2U);
  EXPECT_EQ(running(), std::vector{started()[1]});
  mps_->release(JobId{3});
  mps_->finish();
}

TEST_F(MpsTest, StartsAnotherWhenItDies) {
  use(1);
  kill_hard(started()[0]);
  const MpsEvent died = wait_for(Kind::Died);
  EXPECT_EQ(died.jobs, std::vector{JobId{1}});
  EXPECT_NE(died.text.find("GPU 0 has died"), std::string::npos);
  EXPECT_EQ(wait_for(Kind::Ready).jobs, std::vector<JobId>{});
  EXPECT_EQ(running(), std::vector{started()[1]});
  use(2);
  mps_->release(JobId{1});
  mps_->release(JobId{2});
  mps_->finish();
}

TEST_F(MpsTest, SendsNobodyToOneThatHasJustDied) {
  use(1);
  kill_hard(started()[0]);
  EXPECT_FALSE(*mps_->use(JobId{2}, devices_[0], ::geteuid()));
  EXPECT_EQ(wait_for(Kind::Ready).jobs, std::vector{JobId{2}});
  EXPECT_EQ(connect(0), "connected\n");
  mps_->release(JobId{1});
  mps_->release(JobId{2});
  mps_->finish();
}

TEST_F(MpsTest, WaitsForOneThatIsSlow) {
  const std::string gate = folder_.path() + "/slow";
  ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
  EXPECT_FALSE(*mps_->use(JobId{1}, devices_[0], ::geteuid()));
  EXPECT_FALSE(*mps_->use(JobId{2}, devices_[0], ::geteuid()));
  while (of("slow").empty()) {
    pollfd ready{mps_->event_fd(), POLLIN, 0};
    (void)::poll(&ready, 1, 1000);
    EXPECT_TRUE(mps_->take_events().empty());
  }
  std::ofstream(gate) << "go";
  EXPECT_EQ(wait_for(Kind::Ready).jobs, (std::vector{JobId{1}, JobId{2}}));
  EXPECT_EQ(started().size(), 1U);
  mps_->release(JobId{1});
  mps_->release(JobId{2});
  mps_->finish();
}

TEST_F(MpsTest, GivesUpInTheEndAndTellsWhy) {
  folder_.write("refuse", "no device will do\n");
  EXPECT_FALSE(*mps_->use(JobId{1}, devices_[0], ::geteuid()));
  const MpsEvent failed = wait_for(Kind::Failed);
  EXPECT_EQ(failed.jobs, std::vector{JobId{1}});
  EXPECT_EQ(failed.text, "MPS cannot be started on GPU 0: no device will do");
  EXPECT_EQ(of("refused").size(), 5U);
  mps_->release(JobId{1});
  mps_->finish();
}

TEST_F(MpsTest, TriesAgainWhenAStartFails) {
  folder_.write("refuse", "not yet\n");
  folder_.write("refuse_count", "2");
  use(1);
  EXPECT_EQ(of("refused").size(), 2U);
  mps_->release(JobId{1});
  mps_->finish();
}

TEST_F(MpsTest, AdoptsWhatIsThere) {
  use(1);
  const std::vector<pid_t> before = started();
  mps_ = std::make_unique<Mps>(owner());  // as if this process had been killed and come back
  use(1);
  mps_->take_over(devices_);
  EXPECT_EQ(started(), before);
  kill_hard(before[0]);  // its death is seen, too, though it is not our child any more
  wait_for(Kind::Died);
  EXPECT_EQ(wait_for(Kind::Ready).jobs, std::vector<JobId>{});
  EXPECT_EQ(running().size(), 1U);
  mps_->release(JobId{1});
  mps_->finish();
}

TEST_F(MpsTest, EndsWhatNobodyUsesAnyMore) {
  use(1);
  use(2, 1);
  mps_ = std::make_unique<Mps>(owner());
  use(2, 1);
  mps_->take_over(devices_);
  mps_->finish();
  EXPECT_EQ(running(), std::vector{started()[1]});
  mps_->release(JobId{2});
  mps_->finish();
}

TEST_F(MpsTest, AdoptsTheOneThatKeepsItFromStarting) {
  // Another is on its way, of which nothing can be seen yet.
  const std::string gate = folder_.path() + "/slow";
  ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
  Mps first(owner());
  EXPECT_FALSE(*first.use(JobId{1}, devices_[0], ::geteuid()));
  while (of("slow").empty()) {
    pollfd ready{first.event_fd(), POLLIN, 0};
    (void)::poll(&ready, 1, 1000);
    (void)first.take_events();
  }
  EXPECT_FALSE(*mps_->use(JobId{1}, devices_[0], ::geteuid()));
  while (of("slow").size() < 2) {
    pollfd ready{mps_->event_fd(), POLLIN, 0};
    (void)::poll(&ready, 1, 1000);
    (void)mps_->take_events();
  }
  {
    // Both read the gate; a writer that goes lets both go on.
    std::ofstream go(gate);
  }
  EXPECT_EQ(wait_for(Kind::Ready).jobs, std::vector{JobId{1}});
  EXPECT_EQ(running().size(), 1U);
  mps_->release(JobId{1});
  mps_->finish();
}

TEST_F(MpsTest, EndsOneThatCannotBeAdopted) {
  folder_.write("nameless", "");
  use(1);
  mps_ = std::make_unique<Mps>(owner());
  use(1);
  // The old one may have answered for the new one.
  while (started().size() < 2) {
    pollfd ready{mps_->event_fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&ready, 1, 10'000), 1);
    (void)mps_->take_events();
  }
  EXPECT_EQ(of("quit"), std::vector{started()[0]});
  EXPECT_EQ(running(), std::vector{started()[1]});
  mps_->release(JobId{1});
  mps_->finish();
}

TEST_F(MpsTest, KillsOneThatDoesNotQuit) {
  folder_.write("deaf", "");
  use(1);
  mps_->release(JobId{1});
  mps_->finish();
  EXPECT_EQ(of("deaf"), started());
  EXPECT_EQ(running(), std::vector<pid_t>{});
}

TEST_F(MpsTest, TellsOnceThatAJobDoesWithout) {
  use(1, 2);
  use(2, 2);
  mps_->at_work(JobId{1});
  const MpsEvent event = wait_for(Kind::NotUsed);
  EXPECT_EQ(event.jobs, std::vector{JobId{1}});
  EXPECT_EQ(event.text.substr(0, 59),
            "job 1 does not go through MPS: GPU 2 has no MPS server, so ");
  mps_->at_work(JobId{2});
  mps_->release(JobId{1});
  mps_->release(JobId{2});
  mps_->finish();
  EXPECT_TRUE(mps_->take_events().empty());
}

TEST_F(MpsTest, IsSilentWhenThereIsAServer) {
  use(1, 2);
  EXPECT_EQ(connect(2), "connected\n");
  mps_->at_work(JobId{1});
  use(2, 0);
  EXPECT_EQ(connect(0), "connected\n");
  mps_->release(JobId{1});
  mps_->release(JobId{2});
  mps_->finish();
  EXPECT_TRUE(mps_->take_events().empty());
}

TEST_F(MpsTest, AsksAtTheEndWhereNobodySeesWhoWorks) {
  use(1);
  mps_->release(JobId{1});
  mps_->settle();
  EXPECT_EQ(wait_for(Kind::NotUsed).jobs, std::vector{JobId{1}});
  mps_->finish();
  EXPECT_EQ(of("quit"), started());
}

TEST_F(MpsTest, TellsJobsWhereToGo) {
  Needs needs = with_mps();
  EXPECT_EQ(variable(0, "CUDA_MPS_PIPE_DIRECTORY", needs), place(0) + "/pipe");
  EXPECT_EQ(variable(0, "CUDA_MPS_LOG_DIRECTORY", needs), place(0) + "/log");
  EXPECT_EQ(variable(0, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", needs), "unset");
  EXPECT_EQ(variable(0, "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", needs), "unset");
  needs.thread_percentage = 30;
  needs.memory = gibibytes(2);
  EXPECT_EQ(variable(0, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", needs), "30");
  EXPECT_EQ(variable(0, "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", needs), "0=2048M");
  // Numbers count within what the control daemon sees.
  EXPECT_EQ(variable(1, "CUDA_VISIBLE_DEVICES", needs), "0");
  EXPECT_EQ(variable(2, "CUDA_VISIBLE_DEVICES", needs), "inherited");
  devices_[1].visible = "GPU-1234";
  EXPECT_EQ(variable(1, "CUDA_VISIBLE_DEVICES", needs), "inherited");
  // A socket's path may not be longer than this.
  EXPECT_LT((place(0) + "/pipe/control_privileged").size(), 107U);
  // Another user's are elsewhere.
  needs.mps = mps_of(12345);
  EXPECT_TRUE(variable(0, "CUDA_MPS_PIPE_DIRECTORY", needs).starts_with("/tmp/berth-mps-12345/"));
}

TEST_F(MpsTest, SaysWhatIsMissing) {
  const ScopedVariable nothing("PATH", folder_.path().c_str());
  const Result<void> available = mps_->check_available();
  ASSERT_FALSE(available);
  EXPECT_EQ(available.error().message,
            "MPS is asked for but nvidia-cuda-mps-control is not on PATH; install what comes with "
            "NVIDIA's driver, or omit --mps");
  EXPECT_FALSE(mps_->use(JobId{1}, devices_[0], ::geteuid()));
  const Result<bool> amd = mps_->use(JobId{1}, mps_device("3", DeviceFamily::Amd), ::geteuid());
  ASSERT_FALSE(amd);
  EXPECT_NE(amd.error().message.find("GPU 3 is not"), std::string::npos);
}

TEST_F(MpsTest, BelongsToTheUserWhoseJobsItServes) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can start it for somebody else";
  }
  constexpr uid_t kNobody = 65534;
  std::filesystem::permissions(folder_.path(), std::filesystem::perms::all);
  // Another user's processes have nothing of this one's environment: the program brings it along.
  folder_.write(
      "nvidia-cuda-mps-control",
      fmt::format("#!/bin/sh\nexport FAKE_MPS={}\nexec {}/fake_mps/nvidia-cuda-mps-control "
                  "\"$@\"\n",
                  folder_.path(), BERTH_TESTS_DIR));
  std::filesystem::permissions(folder_.path() + "/nvidia-cuda-mps-control",
                               std::filesystem::perms::all);
  const ScopedVariable path("PATH",
                            fmt::format("{}:{}", folder_.path(), std::getenv("PATH")).c_str());
  ASSERT_FALSE(*mps_->use(JobId{1}, devices_[0], kNobody));
  wait_for(Kind::Ready);
  struct stat info {};
  ASSERT_EQ(::stat(fmt::format("/proc/{}", started().at(0)).c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, kNobody);
  use(2);  // root's own
  EXPECT_EQ(running().size(), 2U);
  mps_ = std::make_unique<Mps>(owner());
  mps_->take_over(devices_);
  mps_->finish();
  EXPECT_EQ(running(), std::vector<pid_t>{});
}

}  // namespace
}  // namespace berth
