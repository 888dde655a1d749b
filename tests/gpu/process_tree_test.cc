// Whose memory it is, by a made-up /proc and by real processes.
#include "gpu/telemetry/process_tree.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "fixture.h"

namespace berth {
namespace {

class ProcessTreeTest : public ::testing::Test {
 protected:
  static constexpr uid_t kUser = 1000;

  void process(pid_t pid, pid_t parent, pid_t group, pid_t session,
               const std::string& environment = "", uid_t user = kUser,
               const std::string& cgroup = "/") {
    const std::string folder = std::to_string(pid) + "/";
    folder_.write(folder + "status", "Name:\t(a)\nUid:\t" + std::to_string(user) + "\t0\t0\t0\n");
    folder_.write(folder + "cgroup", "4:memory:/jobs/7\n0::" + cgroup + "\n");
    folder_.write(folder + "stat", std::to_string(pid) + " (a) name (b) S " +
                                       std::to_string(parent) + " " + std::to_string(group) + " " +
                                       std::to_string(session) +
                                       " 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0");
    folder_.write(folder + "environ", environment);
  }
  static DeviceSample sample(std::optional<Bytes> used, std::vector<ProcessUse> processes) {
    DeviceSample made;
    made.used = used;
    made.processes = std::move(processes);
    return made;
  }
  DeviceUse attribute(const DeviceSample& made) {
    const std::vector<JobRoot> jobs = {
        {JobId{7}, 100, kUser, ""}, {JobId{8}, 200, kUser, ""}, {JobId{9}, 300, kUser, "/jobs/9"}};
    return ProcessTree("token", folder_.path()).attribute(std::span(&made, 1), jobs)[0];
  }

  TempFolder folder_;
};

TEST_F(ProcessTreeTest, ChildrenBelongToTheirJobAndTheRestIsForeign) {
  process(100, 50, 100, 50);
  process(101, 100, 100, 50);
  process(102, 101, 999, 999);
  process(200, 50, 200, 50);
  process(50, 1, 50, 50);
  process(350, 1, 350, 350);
  const DeviceUse use = attribute(sample(
      Bytes{1000},
      {{100, Bytes{1}}, {101, Bytes{2}}, {102, Bytes{4}}, {200, Bytes{8}}, {350, Bytes{16}}}));
  EXPECT_EQ(use.jobs, (std::map<JobId, Bytes>{{JobId{7}, Bytes{7}}, {JobId{8}, Bytes{8}}}));
  EXPECT_EQ(use.foreign, Bytes{985});
}

// A job's worker may die between the sample and the look at /proc: what it held is nobody else's.
TEST_F(ProcessTreeTest, OneThatHasDiedBelongsToWhomItDidBefore) {
  const std::vector<JobRoot> jobs = {{JobId{7}, 100, kUser, ""}};
  process(100, 1, 100, 100);
  process(101, 100, 101, 101);
  const DeviceSample made = sample(Bytes{50}, {{101, Bytes{40}}});
  ProcessTree tree("token", folder_.path());
  EXPECT_EQ(tree.attribute(std::span(&made, 1), jobs)[0].foreign, Bytes{10});
  std::filesystem::remove_all(folder_.path() + "/101");
  EXPECT_EQ(tree.attribute(std::span(&made, 1), jobs)[0].foreign, Bytes{10});
  EXPECT_EQ(tree.attribute(std::span(&made, 1), {})[0].foreign, Bytes{50});
}

struct StrayCase {
  const char* name;
  pid_t group;
  pid_t session;
  std::string environment;
  std::optional<std::uint64_t> job;
  uid_t user = 1000;
  std::string cgroup = "/";

  friend std::ostream& operator<<(std::ostream& out, const StrayCase& row) {
    return out << row.name;
  }
};

class StrayTest : public ProcessTreeTest, public ::testing::WithParamInterface<StrayCase> {};

TEST_P(StrayTest, AReparentedProcessIsKnownByWhatItKept) {
  process(400, 1, GetParam().group, GetParam().session, GetParam().environment, GetParam().user,
          GetParam().cgroup);
  const DeviceUse use = attribute(sample(Bytes{5}, {{400, Bytes{5}}}));
  if (GetParam().job) {
    EXPECT_EQ(use.jobs, (std::map<JobId, Bytes>{{JobId{*GetParam().job}, Bytes{5}}}));
    EXPECT_EQ(use.foreign, Bytes{});
  } else {
    EXPECT_TRUE(use.jobs.empty());
    EXPECT_EQ(use.foreign, Bytes{5});
  }
}

std::string variables(std::initializer_list<const char*> entries) {
  std::string text;
  for (const char* entry : entries) {
    text += entry;
    text += '\0';
  }
  return text;
}

INSTANTIATE_TEST_SUITE_P(
    Strays, StrayTest,
    ::testing::Values(
        StrayCase{"by_group", 200, 50, "", 8}, StrayCase{"by_session", 400, 100, "", 7},
        StrayCase{"by_environment", 400, 400,
                  variables({"PATH=/bin", "BERTH_JOB_ID=7", "BERTH_RUN=token"}), 7},
        StrayCase{"of_another_run", 400, 400, variables({"BERTH_JOB_ID=7", "BERTH_RUN=other"}), {}},
        StrayCase{"without_a_run", 400, 400, variables({"BERTH_JOB_ID=7"}), {}},
        StrayCase{
            "of_a_job_that_ended", 400, 400, variables({"BERTH_JOB_ID=6", "BERTH_RUN=token"}), {}},
        StrayCase{"by_cgroup", 400, 400, "", 9, 1000, "/jobs/9"},
        StrayCase{"below_its_cgroup", 400, 400, "", 9, 1000, "/jobs/9/mine"},
        StrayCase{"by_cgroup_after_sudo", 400, 400, "", 9, 0, "/jobs/9"},
        StrayCase{"in_a_longer_cgroup", 400, 400, "", {}, 1000, "/jobs/99"},
        StrayCase{"that_speaks_for_a_job_with_a_cgroup",
                  400,
                  400,
                  variables({"BERTH_JOB_ID=9", "BERTH_RUN=token"}),
                  {}},
        StrayCase{"of_another_user_that_speaks_for_a_job",
                  400,
                  400,
                  variables({"BERTH_JOB_ID=7", "BERTH_RUN=token"}),
                  {},
                  1001},
        StrayCase{"of_another_user_with_the_number_of_a_group", 200, 400, "", {}, 1001},
        StrayCase{"of_another_user_with_the_number_of_a_session", 400, 100, "", {}, 1001},
        StrayCase{"with_a_longer_number",
                  400,
                  400,
                  variables({"BERTH_JOB_ID=7x", "BERTH_RUN=token"}),
                  {}},
        StrayCase{"foreign", 400, 400, "", {}}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_F(ProcessTreeTest, ForeignIsNeverNegative) {
  process(100, 1, 100, 100);
  EXPECT_EQ(attribute(sample(Bytes{10}, {{100, Bytes{15}}})).foreign, Bytes{});
}

TEST_F(ProcessTreeTest, WithoutASumTheListCounts) {
  process(100, 1, 100, 100);
  const DeviceUse use = attribute(sample({}, {{100, Bytes{15}}, {5, Bytes{3}}}));
  EXPECT_EQ(use.foreign, Bytes{3});
}

TEST_F(ProcessTreeTest, ALoopOfParentsEnds) {
  process(500, 501, 500, 500);
  process(501, 500, 501, 501);
  EXPECT_EQ(attribute(sample(Bytes{1}, {{500, Bytes{1}}})).foreign, Bytes{1});
}

/// A grandchild that made itself a session of its own and lost its parent.
TEST_F(ProcessTreeTest, ARealStrayIsFoundByItsEnvironment) {
  Child root([] {
    ::setpgid(0, 0);
    ::setenv("BERTH_JOB_ID", "7", 1);
    ::setenv("BERTH_RUN", "real", 1);
    const pid_t middle = ::fork();
    if (middle == 0) {
      ::setsid();
      if (::fork() == 0) {
        // exec, because the kernel shows the environment that a program was started with.
        ::execlp("sh", "sh", "-c", "echo $$; kill -STOP $$", nullptr);
      }
      return 0;  // its child is now somebody else's
    }
    ::waitpid(middle, nullptr, 0);
    (void)!::write(STDOUT_FILENO, "alone\n", 6);
    ::pause();
    return 0;
  });
  // Two lines in either order: the stray's number, and that it has lost its parent.
  pid_t stray = 0;
  for (const std::string& line : {root.read_line(), root.read_line()}) {
    stray = line == "alone" ? stray : std::atoi(line.c_str());
  }
  ASSERT_GT(stray, 0);
  const DeviceSample made =
      sample(Bytes{12}, {{stray, Bytes{4}}, {root.pid(), Bytes{2}}, {::getpid(), Bytes{1}}});
  const std::vector<JobRoot> jobs = {{JobId{7}, root.pid(), ::getuid(), ""}};
  const DeviceUse use = ProcessTree("real").attribute(std::span(&made, 1), jobs)[0];
  const DeviceUse blind = ProcessTree("other").attribute(std::span(&made, 1), jobs)[0];
  ::kill(stray, SIGKILL);
  EXPECT_EQ(use.jobs, (std::map<JobId, Bytes>{{JobId{7}, Bytes{6}}}));
  EXPECT_EQ(use.foreign, Bytes{6});
  EXPECT_EQ(blind.jobs, (std::map<JobId, Bytes>{{JobId{7}, Bytes{2}}}));
}

}  // namespace
}  // namespace berth
