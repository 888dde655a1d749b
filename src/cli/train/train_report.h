// What berth train shows: a progress line, the learning curve, and how the model does.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "train/trainer.h"

namespace berth {

class TrainProgress {
 public:
  TrainProgress(std::uint64_t steps, bool quiet);
  void show(const Trainer& trainer);
  void done(const Trainer& trainer);

 private:
  std::uint64_t steps_;
  bool terminal_;
  std::chrono::steady_clock::time_point begun_;
  std::uint64_t begun_at_ = 0;
  bool first_ = true;
};

/// Mean costs over the schedules of a test, in the reward's own unit.
struct TestResult {
  double model = 0;
  double usual = 0;
  double priority = 0;
};
TestResult test_model(const Course& tests, const Model& model);

/// As .csv, else as .svg.
Result<void> write_curve(const std::string& path, const Curve& curve);

void print_result(const Model& model, const TestResult& result, const Trainer& trainer,
                  const std::string& usual, bool json);

}  // namespace berth
