// What becomes of jobs that Slurm loses, requeues, cancels, forgets or runs twice. No process and
// no time: the clock moves when the test says so.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include "base/fd.h"
#include "world.h"

namespace berth {
namespace {

using Kind = AttemptEnd::Kind;

class Target : public SlurmWorldTest {};

TEST_F(Target, AJobRunsAndEnds) {
  start(1);
  pass(5);
  EXPECT_EQ(why(1), "jobs with a higher priority are ahead of it in the cluster's queue");
  claim(0, "1.17");
  pass(1);
  ASSERT_EQ(starts_.size(), 1U);
  EXPECT_EQ(target_->standing(JobId{1})->node, "n1");
  exit(0, "1.17", 3);
  pass(1);
  EXPECT_EQ(only_end().code, 3);
  target_->forget(JobId{1}, 1);
  EXPECT_FALSE(target_->standing(JobId{1}));
  EXPECT_FALSE(std::filesystem::exists(folder()));
}

TEST_F(Target, JobsOfOneKindAreOneArray) {
  for (std::uint64_t job = 1; job <= 3; ++job) {
    ASSERT_TRUE(target_->start(launch(job)));
  }
  ShimLaunch other = launch(4);
  other.target_options = {"--nice=3"};
  ASSERT_TRUE(target_->start(other));
  pass(1);
  ASSERT_EQ(slurm_.jobs.size(), 2U);
  std::vector<std::string> arrays = {slurm_.jobs[0].array, slurm_.jobs[1].array};
  std::sort(arrays.begin(), arrays.end());
  EXPECT_EQ(arrays, (std::vector<std::string>{"", "0-2"}));
}

TEST_F(Target, ALostSubmissionIsSentAgain) {
  start(1);
  slurm_.last().known = false;  // slurmctld has died with it
  pass(5);
  EXPECT_EQ(slurm_.count("sbatch"), 1U) << "it may still come";
  pass(10);
  ASSERT_EQ(slurm_.count("sbatch"), 2U);
  EXPECT_TRUE(contains(slurm_.last().script, "_b_send=2"));
  EXPECT_EQ(slurm_.jobs[0].name, slurm_.jobs[1].name);
  claim(0, "2.18");
  exit(0, "2.18", 0);
  pass(60);
  EXPECT_EQ(only_end().kind, Kind::Exited);
  EXPECT_EQ(slurm_.count("sbatch"), 2U);
}

TEST_F(Target, OfAnArrayOnlyWhatIsMissingIsSentAgain) {
  ASSERT_TRUE(target_->start(launch(1)));
  ASSERT_TRUE(target_->start(launch(2)));
  pass(1);
  claim(1, "1.17");
  slurm_.last().known = false;
  pass(1);
  slurm_.last().known = true;  // its second element runs
  slurm_.last().array = "1";
  slurm_.last().state = "RUNNING";
  pass(5);
  // Not yet known to be saved: the first one was lost.
  EXPECT_EQ(slurm_.count("sbatch"), 1U);
  EXPECT_TRUE(ends_.empty());
}

TEST_F(Target, ADoubtfulSubmissionIsFoundInTheQueue) {
  slurm_.sbatch_is_slow = true;
  start(1);
  EXPECT_TRUE(contains(why(1), "sbatch did not answer in time")) << why(1);
  slurm_.sbatch_is_slow = false;
  pass(60);
  EXPECT_EQ(slurm_.count("sbatch"), 1U);
  EXPECT_EQ(target_->standing(JobId{1})->id, "17");
  EXPECT_TRUE(ends_.empty());
}

TEST_F(Target, ADoubtfulSubmissionThatNeverCameIsSentAgain) {
  slurm_.sbatch_is_lost = true;
  start(1);
  slurm_.sbatch_is_lost = false;
  pass(4);
  EXPECT_EQ(slurm_.count("sbatch"), 1U) << "it may still come";
  pass(6);
  EXPECT_EQ(slurm_.count("sbatch"), 2U);
  EXPECT_TRUE(ends_.empty());
}

TEST_F(Target, ASubmissionThatComesAfterAllAndItsSecondCopyAreOneJob) {
  slurm_.sbatch_is_lost = true;
  start(1);
  slurm_.sbatch_is_lost = false;
  pass(10);
  ASSERT_EQ(slurm_.jobs.size(), 1U);
  FakeSlurm::Job late = slurm_.jobs[0];  // the first call's job: it was only slow
  late.id = "16";
  slurm_.jobs.insert(slurm_.jobs.begin(), late);
  claim(0, "1.16");
  slurm_.jobs[0].state = "RUNNING";
  slurm_.jobs[1].state = "COMPLETED";  // it found the claim of the other
  pass(20);
  EXPECT_EQ(starts_.size(), 1U);
  EXPECT_TRUE(ends_.empty());
  exit(0, "1.16", 0);
  pass(20);
  EXPECT_EQ(only_end().kind, Kind::Exited);
}

TEST_F(Target, ARequeuedJobHasOneEnd) {
  start(1);
  claim(0, "1.17");
  slurm_.last().state = "RUNNING";
  pass(2);
  slurm_.last().state = "PENDING";
  slurm_.last().reason = "(BeginTime)";
  pass(60);
  EXPECT_TRUE(ends_.empty());
  slurm_.last().state = "RUNNING";
  claim(0, "1.17", 1);
  exit(0, "1.17", 0);
  slurm_.last().state = "COMPLETED";
  pass(20);
  EXPECT_EQ(only_end().kind, Kind::Exited);
  EXPECT_EQ(starts_.size(), 1U);
}

TEST_F(Target, AJobThatWaitsIsWithdrawn) {
  start(1);
  target_->stop(JobId{1}, StopSignal::Terminate);
  pass(1);
  EXPECT_EQ(only_end().kind, Kind::Withdrawn);
  EXPECT_FALSE(only_end().cancelled_there);
  EXPECT_EQ(read("c/0"), "withdrawn\n");
  ASSERT_EQ(slurm_.count("scancel"), 1U);
  EXPECT_EQ(slurm_.calls["scancel"][0].back(), "17");
}

TEST_F(Target, AJobIsWithdrawnWhileTheClusterIsDown) {
  slurm_.sbatch_says = slurm_.squeue_says =
      "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect "
      "failure)";
  start(1);
  EXPECT_TRUE(contains(why(1), "does not answer"));
  target_->stop(JobId{1}, StopSignal::Terminate);
  pass(1);
  EXPECT_EQ(only_end().kind, Kind::Withdrawn);
}

TEST_F(Target, AJobThatIsOnlyGatheredIsWithdrawn) {
  ASSERT_TRUE(target_->start(launch(1)));
  target_->stop(JobId{1}, StopSignal::Kill);
  pass(1);
  EXPECT_EQ(only_end().kind, Kind::Withdrawn);
  EXPECT_EQ(slurm_.count("sbatch"), 0U);
}

TEST_F(Target, AJobIsTakenBackAndNeverRuns) {
  start(1);
  EXPECT_TRUE(target_->take_back(JobId{1}));
  EXPECT_FALSE(target_->standing(JobId{1}));
  pass(5);
  EXPECT_TRUE(ends_.empty());
  EXPECT_FALSE(std::filesystem::exists(folder())) << "a copy that starts finds nothing";
  EXPECT_GE(slurm_.count("scancel"), 1U);
}

TEST_F(Target, AJobThatHasStartedIsNotTakenBack) {
  start(1);
  claim(0, "1.17");
  EXPECT_FALSE(target_->take_back(JobId{1}));
}

TEST_F(Target, AJobThatRunsIsToldToEnd) {
  start(1);
  claim(0, "1.17");
  slurm_.last().state = "RUNNING";
  pass(1);
  target_->stop(JobId{1}, StopSignal::Terminate);
  pass(1);
  EXPECT_TRUE(std::filesystem::exists(folder() + "/x/k0"));
  EXPECT_EQ(slurm_.calls["scancel"][0],
            (std::vector<std::string>{slurm_.calls["scancel"][0][0], "--quiet", "--batch",
                                      "--signal=TERM", "17"}));
  exit(0, "1.17", 143);
  pass(1);
  EXPECT_EQ(only_end().signal, 15);
  EXPECT_FALSE(only_end().cancelled_there);
}

TEST_F(Target, WhoCancelsThereIsTold) {
  start(1);
  claim(0, "1.17");
  slurm_.last().state = "RUNNING";
  pass(1);
  exit(0, "1.17", 143);
  slurm_.last().state = "CANCELLED";
  pass(10);
  EXPECT_EQ(only_end().signal, 15);
  EXPECT_TRUE(only_end().cancelled_there);
  EXPECT_EQ(only_end().note, "somebody cancelled it in Slurm");
}

TEST_F(Target, AJobThatIsCancelledThereBeforeItStartedNeverStarts) {
  start(1);
  pass(20);
  slurm_.last().state = "CANCELLED";
  pass(40);
  EXPECT_EQ(only_end().kind, Kind::Withdrawn);
  EXPECT_TRUE(only_end().cancelled_there);
  EXPECT_EQ(read("c/0"), "withdrawn\n");
}

TEST_F(Target, AJobThatSlurmForgetsHasTheEndThatItWrote) {
  start(1);
  claim(0, "1.17");
  slurm_.last().state = "RUNNING";
  pass(1);
  slurm_.last().known = false;
  exit(0, "1.17", 0);
  pass(1);
  EXPECT_EQ(only_end().kind, Kind::Exited);
}

TEST_F(Target, AJobThatSlurmForgetsAndLeftNoRecordIsLostOnceItsProcessesAreGone) {
  start(1);
  claim(0, "1.17");
  slurm_.last().state = "RUNNING";
  pass(10);
  slurm_.last().known = false;
  Fd held(::open((folder() + "/c/0").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(held.get(), LOCK_EX), 0);
  pass(60);
  EXPECT_TRUE(ends_.empty());
  held.reset();
  pass(10);
  EXPECT_EQ(only_end().kind, Kind::Lost);
}

TEST_F(Target, ANodeThatFailsIsTold) {
  start(1);
  claim(0, "1.17");
  slurm_.last().state = "RUNNING";
  pass(1);
  slurm_.last().state = "NODE_FAIL";
  pass(30);
  EXPECT_EQ(only_end().kind, Kind::Lost);
  EXPECT_EQ(only_end().note, "its node failed");
}

TEST_F(Target, AJobThatBreaksBeforeItBeginsIsSentAgainButNotForEver) {
  start(1);
  for (int i = 0; i < 8; ++i) {
    slurm_.last().state = "FAILED";
    slurm_.last().status = 256;
    pass(60);
  }
  EXPECT_EQ(slurm_.count("sbatch"), 5U);
  EXPECT_EQ(only_end().kind, Kind::NotStarted);
}

TEST_F(Target, ARefusalIsNotTriedAgain) {
  slurm_.sbatch_says =
      "sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Batch job submission failed: Job "
      "violates accounting/QOS policy (job submit limit, user's size and/or time limits)";
  start(1);
  pass(60);
  EXPECT_EQ(only_end().kind, Kind::NotStarted);
  EXPECT_TRUE(contains(only_end().note, "job submit limit")) << only_end().note;
  EXPECT_EQ(slurm_.count("sbatch"), 1U);
}

TEST_F(Target, ALimitIsToldAndWaitedFor) {
  start(1);
  slurm_.last().reason = "(QOSMaxJobsPerUserLimit)";
  pass(300);
  EXPECT_TRUE(contains(why(1), "QOSMaxJobsPerUserLimit")) << why(1);
  EXPECT_EQ(slurm_.count("sbatch"), 1U);
  EXPECT_TRUE(ends_.empty());
}

TEST_F(Target, AFolderThatCannotBeWrittenIsToldAndTriedAgain) {
  std::filesystem::rename(home_ + "/lab", home_ + "/away");
  start(1);
  EXPECT_TRUE(contains(why(1), "cannot write")) << why(1);
  pass(20);
  EXPECT_EQ(slurm_.count("sbatch"), 0U);
  std::filesystem::rename(home_ + "/away", home_ + "/lab");
  pass(10);
  EXPECT_EQ(slurm_.count("sbatch"), 1U);
  EXPECT_TRUE(contains(why(1), "priority")) << why(1);
  EXPECT_TRUE(ends_.empty());
}

TEST_F(Target, NothingEndsWhileTheClusterIsDown) {
  start(1);
  pass(10);
  slurm_.squeue_says =
      "slurm_load_jobs error: Unable to contact slurm controller (connect failure)";
  slurm_.last().known = false;
  pass(300);
  EXPECT_TRUE(contains(why(1), "does not answer")) << why(1);
  EXPECT_TRUE(ends_.empty());
  slurm_.squeue_says.clear();
  slurm_.last().known = true;
  pass(30);
  EXPECT_EQ(why(1), "jobs with a higher priority are ahead of it in the cluster's queue");
}

TEST_F(Target, SqueueIsAskedNoMoreThanEveryTwoSeconds) {
  for (std::uint64_t job = 1; job <= 500; ++job) {
    ASSERT_TRUE(target_->start(launch(job)));
  }
  pass(100);
  EXPECT_LE(slurm_.count("squeue"), 51U);
  EXPECT_GE(slurm_.count("squeue"), 5U);
}

// --- what sacct tells of jobs that have vanished

/// The words of a job that ran, vanished, and left no record.
class Vanished : public SlurmWorldTest {
 protected:
  Vanished() { slurm_.accounting = true; }

  void vanish(const std::string& sacct) {
    start(1);
    claim(0, "1.17");
    slurm_.last().state = "RUNNING";
    pass(10);
    slurm_.sacct = sacct + "|" + slurm_.last().name + "\n";
    slurm_.last().known = false;
    pass(60);
  }
};

TEST_F(Vanished, IsToldTrulyWhereThereIsAccounting) {
  struct Told {
    const char* sacct;
    Kind kind;
    int signal;
    const char* note;
  };
  for (const Told& row : {
           Told{"17|NODE_FAIL|0:0", Kind::Lost, 0, "its node failed"},
           Told{"17|TIMEOUT|0:0", Kind::Exited, 15,
                "it reached the time limit that Slurm had for it"},
           Told{"17|CANCELLED by 0|0:0", Kind::Exited, 9, "root cancelled it in Slurm"},
           Told{"17|CANCELLED by 1000|0:0", Kind::Exited, 9,
                "the user with the number 1000 cancelled it in Slurm"},
           Told{"17|OUT_OF_MEMORY|0:125", Kind::Exited, 9,
                "it used more of its node's memory than it may (--slurm-option=--mem=…)"},
           Told{"17|FAILED|0:9", Kind::Exited, 9, "it left no record: Slurm told how it ended"},
           // What has not ended is known to sacct alone: Slurm has lost it.
           Told{"17|RUNNING|0:0", Kind::Lost, 0,
                "Slurm no longer knows it, and it left no record of its end"},
       }) {
    ends_.clear();
    slurm_.calls.clear();
    slurm_.jobs.clear();
    std::filesystem::remove_all(home_ + "/lab");
    slurm_.reset_numbers();
    begin();
    vanish(row.sacct);
    EXPECT_EQ(only_end().kind, row.kind) << row.sacct;
    EXPECT_EQ(only_end().signal, row.signal) << row.sacct;
    EXPECT_EQ(only_end().note, row.note) << row.sacct;
    EXPECT_EQ(only_end().cancelled_there, contains(row.sacct, "CANCELLED")) << row.sacct;
    EXPECT_EQ(slurm_.count("sacct"), 1U) << row.sacct;
  }
}

TEST_F(Vanished, IsLostWhereTheAccountingDoesNotAnswer) {
  slurm_.sacct_works = false;
  vanish("17|NODE_FAIL|0:0");
  EXPECT_EQ(only_end().kind, Kind::Lost);
  EXPECT_TRUE(contains(only_end().note, "no longer knows it"));
}

TEST_F(Vanished, IsLostWhereThereIsNoAccounting) {
  slurm_.accounting = false;
  vanish("17|NODE_FAIL|0:0");
  EXPECT_EQ(only_end().kind, Kind::Lost);
  EXPECT_TRUE(contains(only_end().note, "no longer knows it"));
  EXPECT_EQ(slurm_.count("sacct"), 0U);
}

TEST_F(Vanished, TheNumberOfAnotherJobTellsNothing) {
  start(1);
  claim(0, "1.17");
  slurm_.last().state = "RUNNING";
  pass(10);
  slurm_.sacct = "17|COMPLETED|0:0|berth-0123-another\n";
  slurm_.last().known = false;
  pass(60);
  EXPECT_EQ(only_end().kind, Kind::Lost);
}

TEST_F(Vanished, ManyAreAskedAboutInOneCall) {
  for (std::uint64_t job = 1; job <= 40; ++job) {
    ASSERT_TRUE(target_->start(launch(job)));
  }
  pass(1);
  for (std::uint32_t i = 0; i < 40; ++i) {
    claim(i, "1.17");
  }
  slurm_.last().state = "RUNNING";
  pass(10);
  slurm_.sacct = "17_[0-39]|NODE_FAIL|0:0|" + slurm_.last().name + "\n";
  slurm_.last().known = false;
  pass(60);
  EXPECT_EQ(ends_.size(), 40U);
  EXPECT_EQ(slurm_.count("sacct"), 1U);
  EXPECT_EQ(slurm_.calls["sacct"][0].back(), "--jobs=17");
}

TEST_F(Vanished, IsAskedAboutOnceWhileItsProcessesRun) {
  start(1);
  claim(0, "1.17");
  slurm_.last().state = "RUNNING";
  pass(10);
  slurm_.sacct = "17|NODE_FAIL|0:0|" + slurm_.last().name + "\n";
  slurm_.last().known = false;
  Fd held(::open((folder() + "/c/0").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(held.get(), LOCK_EX), 0);
  pass(120);
  EXPECT_TRUE(ends_.empty());
  held.reset();
  pass(10);
  EXPECT_EQ(only_end().note, "its node failed");
  EXPECT_EQ(slurm_.count("sacct"), 1U);
}

TEST_F(Vanished, ACancelledJobIsNotTakenForALostSubmission) {
  start(1);
  slurm_.sacct = "17|CANCELLED by 1000|0:0|" + slurm_.last().name + "\n";
  slurm_.last().known = false;  // before it was seen to be saved
  pass(60);
  EXPECT_EQ(slurm_.count("sbatch"), 1U);
  EXPECT_EQ(only_end().kind, Kind::Withdrawn);
  EXPECT_TRUE(only_end().cancelled_there);
  EXPECT_EQ(only_end().note,
            "the user with the number 1000 cancelled it in Slurm before it started");
}

TEST_F(Vanished, ALostSubmissionIsSentAgainAllTheSame) {
  start(1);
  slurm_.sacct = "17|PENDING|0:0|" + slurm_.last().name + "\n";
  slurm_.last().known = false;
  pass(15);
  EXPECT_EQ(slurm_.count("sbatch"), 2U);
  EXPECT_TRUE(ends_.empty());
}

TEST_F(Vanished, TheSignalThatEndedAJobIsExplained) {
  start(1);
  claim(0, "1.17");
  slurm_.last().state = "RUNNING";
  pass(10);
  slurm_.sacct = "17|TIMEOUT|0:15|" + slurm_.last().name + "\n";
  slurm_.last().known = false;
  exit(0, "1.17", 143);
  pass(20);
  EXPECT_EQ(only_end().signal, 15);
  EXPECT_EQ(only_end().note, "it reached the time limit that Slurm had for it");
}

// --- an earlier process

TEST_F(Target, ASubmissionWithoutAnAnswerIsFoundByTheNextProcess) {
  start(1);
  std::filesystem::remove(folder() + "/sent");  // it died before the answer
  begin();
  pass(30);
  EXPECT_EQ(slurm_.count("sbatch"), 1U);
  EXPECT_EQ(target_->standing(JobId{1})->id, "17");
}

TEST_F(Target, ASubmissionThatWasNeverMadeIsMadeByTheNextProcess) {
  start(1);
  std::filesystem::remove(folder() + "/sent");
  slurm_.last().known = false;
  begin();
  pass(30);
  EXPECT_EQ(slurm_.count("sbatch"), 2U);
}

TEST_F(Target, StartsAndEndsAreFoundByTheNextProcess) {
  ASSERT_TRUE(target_->start(launch(1)));
  ASSERT_TRUE(target_->start(launch(2)));
  ASSERT_TRUE(target_->start(launch(3)));
  pass(1);
  claim(0, "1.17");
  claim(1, "1.17");
  exit(1, "1.17", 0);
  write("c/2", std::string(kWithdrawn));
  begin();
  turn();
  EXPECT_EQ(starts_.size(), 2U);
  ASSERT_EQ(ends_.size(), 2U);
  std::sort(ends_.begin(), ends_.end(),
            [](const AttemptEnd& a, const AttemptEnd& b) { return a.job < b.job; });
  EXPECT_EQ(ends_[0].kind, Kind::Exited);
  EXPECT_EQ(ends_[1].kind, Kind::Withdrawn);
  ASSERT_TRUE(target_->start(launch(1)));  // the daemon asks for what it had not noted
  pass(5);
  EXPECT_EQ(slurm_.count("sbatch"), 1U);
}

TEST_F(Target, AJobThatComesBackAndIsNotWantedIsCancelled) {
  start(1);
  const FakeSlurm::Job before = slurm_.last();
  ASSERT_TRUE(target_->take_back(JobId{1}));
  pass(1);
  slurm_.calls.clear();
  start(2);
  slurm_.jobs[0] = before;  // slurmctld died, and has read an old state
  pass(10);
  ASSERT_GE(slurm_.count("scancel"), 1U);
  EXPECT_EQ(slurm_.calls["scancel"][0].back(), "17");
}

}  // namespace
}  // namespace berth
