#include "base/nearest.h"

#include <gtest/gtest.h>

#include <array>

namespace berth {
namespace {

TEST(Nearest, FindsATypingErrorButDoesNotGuess) {
  constexpr std::array<std::string_view, 3> kWords = {"--gpus", "--json", "-q"};
  EXPECT_EQ(nearest("--gpu", kWords), "--gpus");
  EXPECT_EQ(nearest("--jsno", kWords), "--json");
  EXPECT_EQ(nearest("--memory", kWords), "");
  EXPECT_EQ(nearest("", {}), "");
}

}  // namespace
}  // namespace berth
