// Shared by the tests of devices: a temporary folder, temporary variables, and jobs in processes.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>

#include "base/fd.h"
#include "gpu/simulated/sim_job.h"

namespace berth {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = ::testing::TempDir() + "berth-gpu-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ + "/" + name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }

 private:
  std::string path_;
};

/// Sets a variable, or unsets it if there is no value, for the lifetime of this object.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) {
      before_ = before;
    }
    set(value);
  }
  ~ScopedVariable() { set(before_ ? before_->c_str() : nullptr); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  void set(const char* value) const {
    value != nullptr ? ::setenv(name_, value, 1) : ::unsetenv(name_);
  }
  const char* name_;
  std::optional<std::string> before_;
};

/// A forked process that runs `body` with the write end of a pipe as its standard output; killed
/// and reaped at the end of the test.
class Child {
 public:
  explicit Child(const std::function<int()>& body) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      ::_exit(body());
    }
    ::close(ends[1]);
    output_ = Fd(ends[0]);
  }
  ~Child() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      (void)wait();
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const { ::kill(pid_, number); }

  /// A line of the child's output; empty when the child has ended or after ten seconds.
  std::string read_line() const {
    std::string line;
    char c = 0;
    pollfd ready{output_.get(), POLLIN, 0};
    while (::poll(&ready, 1, 10'000) > 0 && ::read(output_.get(), &c, 1) == 1 && c != '\n') {
      line += c;
    }
    return line;
  }

  /// The child's wait status.
  int wait() {
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_ = -1;
  Fd output_;
};

/// Runs a simulated job on the parts at these places of the list. The first line of its output says
/// that it holds all its memory.
inline int simulate(const std::string& path, const std::vector<std::size_t>& places,
                    const SimJobPlan& plan) {
  auto state = SimState::open(path);
  if (!state) {
    return 99;
  }
  const std::vector<SimPart> all = list_sim_parts(**state);
  std::vector<SimPart> visible;
  for (const std::size_t place : places) {
    visible.push_back(all.at(place));
  }
  return run_sim_job(**state, visible, plan);
}

inline SimJobPlan holding(Bytes memory) {
  SimJobPlan plan;
  plan.memory = memory;
  plan.hold = std::chrono::hours(1);
  return plan;
}

}  // namespace berth
