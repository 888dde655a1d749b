#include "daemon/daemon_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/read_file.h"

namespace berth {
namespace {

class DaemonLogTest : public testing::Test {
 protected:
  DaemonLogTest() {
    std::string pattern = testing::TempDir() + "log-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    log_.open(folder_ + "/daemon.log");
  }
  ~DaemonLogTest() override { std::filesystem::remove_all(folder_); }

  std::size_t lines() const {
    const std::string text = read_file(folder_ + "/daemon.log").value();
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  std::string folder_;
  DaemonLog log_;
};

TEST_F(DaemonLogTest, KeepsALineALine) {
  log_.write("GPU {}\nis {}", 3, "gone");
  EXPECT_NE(read_file(folder_ + "/daemon.log").value().find(" GPU 3 is gone\n"), std::string::npos);
}

TEST_F(DaemonLogTest, TellsSeldomOfWhatComesAgain) {
  for (int i = 0; i < 1000; ++i) {
    log_.write("the same");
  }
  EXPECT_LT(lines(), 12U);
  log_.write("another");
  EXPECT_GE(lines(), 3U);
}

TEST_F(DaemonLogTest, HasABound) {
  for (int i = 0; i < 3000; ++i) {
    log_.write("{} {}", i, std::string(1500, 'x'));
  }
  EXPECT_LE(std::filesystem::file_size(folder_ + "/daemon.log"), 1U << 20);
  EXPECT_LE(std::filesystem::file_size(folder_ + "/daemon.log.1"), 1U << 20);
}

}  // namespace
}  // namespace berth
