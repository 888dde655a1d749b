// What the tests of the target share: a Slurm that does as it is told and answers at once in
// Slurm's words, a folder of its own, and a clock that only the test moves.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/text.h"
#include "slurm/slurm_target.h"

namespace berth {

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

/// sbatch, squeue, scancel, sacct and scontrol.
class FakeSlurm {
 public:
  struct Job {
    std::string id;
    std::string name;
    std::string script;
    std::string array;              // as sbatch was asked; empty: none
    std::string state = "PENDING";  // of all its elements
    std::string reason = "(Priority)";
    int status = 0;
    bool known = true;  // to squeue
  };

  std::vector<Job> jobs;
  std::string sbatch_says;      // an error, instead of a number
  bool sbatch_is_slow = false;  // it does what it is asked, and answers too late
  bool sbatch_is_lost = false;  // it does nothing, and does not answer
  std::string squeue_says;      // likewise
  std::string sacct;            // its answer
  bool sacct_works = true;
  bool accounting = false;

  SlurmAnswer run(const SlurmCall& call) {
    const std::string name = call.words[0].substr(call.words[0].rfind('/') + 1);
    calls[name].push_back(call.words);
    if (name == "sbatch") {
      return sbatch(call);
    }
    if (name == "squeue") {
      return squeue(call.words);
    }
    if (name == "sacct") {
      return sacct_works ? output(sacct)
                         : error(
                               "sacct: error: Problem talking to the database: Connection "
                               "refused");
    }
    if (call.words.back() == "config") {
      return output(accounting ? "AccountingStorageType   = accounting_storage/slurmdbd\n"
                               : "AccountingStorageType   = accounting_storage/none\n");
    }
    return output("");
  }

  /// How often a command was called.
  std::size_t count(const std::string& name) { return calls[name].size(); }
  void reset_numbers() { number_ = 16; }
  Job& last() { return jobs.back(); }

  std::map<std::string, std::vector<std::vector<std::string>>> calls;

 private:
  static SlurmAnswer output(std::string text) {
    return {SlurmAnswer::Kind::Exited, 0, std::move(text), ""};
  }
  static SlurmAnswer error(std::string text) {
    return {SlurmAnswer::Kind::Exited, 1, "", std::move(text) + "\n"};
  }
  static std::string option(const std::vector<std::string>& words, std::string_view name) {
    for (const std::string& word : words) {
      if (word.starts_with(name)) {
        return word.substr(name.size());
      }
    }
    return "";
  }

  SlurmAnswer sbatch(const SlurmCall& call) {
    if (!sbatch_says.empty()) {
      return error(sbatch_says);
    }
    if (!sbatch_is_lost) {
      Job job;
      job.id = std::to_string(++number_);
      job.name = option(call.words, "--job-name=");
      job.array = option(call.words, "--array=");
      job.script = call.input;
      jobs.push_back(job);
    }
    if (sbatch_is_slow || sbatch_is_lost) {
      return {SlurmAnswer::Kind::TimedOut, 137, "", ""};
    }
    return output(jobs.back().id + "\n");
  }

  SlurmAnswer squeue(const std::vector<std::string>& words) {
    if (!squeue_says.empty()) {
      return error(squeue_says);
    }
    std::string asked = option(words, "--jobs=");
    const bool some = !asked.empty();
    asked = ',' + asked + ',';
    std::string text;
    bool any = false;
    for (const Job& job : jobs) {
      const bool wanted =
          contains(asked, ',' + job.id + ',') || contains(asked, ',' + job.id + '_');
      const bool over = job.state != "PENDING" && job.state != "RUNNING";
      if (!job.known || (some ? !wanted : over)) {
        continue;
      }
      any = true;
      text += fmt::format("{}{}|{}|{}|{}|{}|0|\n", job.id,
                          job.array.empty() ? "" : "_[" + job.array + "]", job.state, job.status,
                          job.reason, job.name);
    }
    const bool alone = some && std::count(asked.begin(), asked.end(), ',') == 2;
    return !any && alone ? error("slurm_load_jobs error: Invalid job id specified") : output(text);
  }

  int number_ = 16;
};

class SlurmWorldTest : public ::testing::Test {
 protected:
  SlurmWorldTest() {
    std::string pattern = ::testing::TempDir() + "berth-slurm-XXXXXX";
    home_ = ::mkdtemp(pattern.data());
    begin();
  }
  ~SlurmWorldTest() override { std::filesystem::remove_all(home_); }

  /// Another process in the same folder.
  void begin() {
    SlurmSettings settings;
    settings.name = "lab";
    settings.folder = home_ + "/lab";
    SlurmWorld world;
    world.run = [this](const SlurmCall& call, int) { return slurm_.run(call); };
    world.now = [this] { return now_; };
    world.where = Chores::Where::AtOnce;
    target_ = std::make_unique<SlurmTarget>(std::move(settings), std::move(world));
    ASSERT_TRUE(target_->open());
    for (const AttemptStart& start : target_->adopt()) {
      starts_.push_back(start);
    }
  }

  static ShimLaunch launch(std::uint64_t job, std::uint16_t attempt = 1) {
    ShimLaunch made;
    made.job = JobId{job};
    made.attempt = attempt;
    made.command = "true";
    made.environment = {"PATH=/bin"};
    made.target = "lab";
    return made;
  }

  void start(std::uint64_t job) {
    ASSERT_TRUE(target_->start(launch(job)));
    pass(1);
  }

  void turn() {
    for (AttemptStart& start : target_->take_starts()) {
      starts_.push_back(std::move(start));
    }
    for (AttemptEnd& end : target_->take_ends()) {
      ends_.push_back(std::move(end));
    }
  }

  /// The target is called whenever it wants to be, and a few times at the end.
  void pass(double seconds) {
    using std::chrono::milliseconds;
    const SlurmTime end = now_ + milliseconds(static_cast<int>(seconds * 1000));
    while (now_ < end) {
      now_ = std::clamp(target_->due(), now_ + milliseconds(1), end);
      turn();
      turn();
    }
  }

  /// The batch that was sent last.
  std::string folder() { return home_ + "/lab/" + slurm_.last().name; }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder() + '/' + name) << text;
  }
  std::string read(const std::string& name) {
    std::ifstream file(folder() + '/' + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// As the wrapper does: the copy of this send and number begins.
  void claim(std::uint32_t index, const std::string& owner, int restarts = 0) {
    const std::string name = fmt::format("c/{}", index);
    write(name, read(name) + fmt::format("{} {} n1 0 1700000000000000000\n", owner, restarts));
  }
  void exit(std::uint32_t index, const std::string& owner, int code) {
    write(fmt::format("x/{}", index),
          fmt::format("{} 0 {} 1 1700000001000000000 - - \n", owner, code));
  }

  std::string why(std::uint64_t job) {
    const std::optional<SlurmStanding> standing = target_->standing(JobId{job});
    return standing ? standing->why : "";
  }
  AttemptEnd only_end() {
    EXPECT_EQ(ends_.size(), 1U);
    return ends_.empty() ? AttemptEnd{} : ends_[0];
  }

  std::string home_;
  SlurmTime now_{std::chrono::hours(1)};
  FakeSlurm slurm_;
  std::unique_ptr<SlurmTarget> target_;
  std::vector<AttemptStart> starts_;
  std::vector<AttemptEnd> ends_;
};

}  // namespace berth
