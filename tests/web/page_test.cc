// The page as it is held in the program.
#include "web/page.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace berth {
namespace {

std::string built(const std::string& name) {
  std::ifstream file(std::string(BERTH_BUILD_DIR) + "/web/" + name + ".gz", std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Page, HoldsWhatWasBuilt) {
  ASSERT_EQ(page_files().size(), 4U);
  for (const PageFile& file : page_files()) {
    const std::string name(file.path == "/" ? "index.html" : file.path.substr(1));
    EXPECT_EQ(file.gzip.substr(0, 2), "\x1f\x8b") << name;
    EXPECT_EQ(file.gzip, built(name)) << name;
  }
}

TEST(Page, IsSmallEnoughForAFirstViewAtOnce) {
  std::size_t total = 0;
  for (const PageFile& file : page_files()) {
    total += file.gzip.size();
  }
  EXPECT_LE(total, 120'000U);
}

}  // namespace
}  // namespace berth
