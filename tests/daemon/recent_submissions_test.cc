// Which jobs `@` and `@~1` name.
#include "daemon/recent_submissions.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

constexpr uid_t kAda = 1000;
constexpr uid_t kBen = 1001;

std::pair<std::uint64_t, std::uint64_t> range(const std::optional<IdRange>& found) {
  return found ? std::pair{found->first.value, found->last.value}
               : std::pair{std::uint64_t{0}, std::uint64_t{0}};
}
using Pair = std::pair<std::uint64_t, std::uint64_t>;

TEST(RecentSubmissionsTest, EachUserHasTheirOwn) {
  RecentSubmissions recent;
  recent.add(kAda, {JobId{1}, JobId{1}}, false);
  recent.add(kBen, {JobId{2}, JobId{9}}, false);
  recent.add(kAda, {JobId{10}, JobId{12}}, false);
  EXPECT_EQ(range(recent.find(kAda, 0)), Pair(10, 12));
  EXPECT_EQ(range(recent.find(kAda, 1)), Pair(1, 1));
  EXPECT_EQ(recent.find(kAda, 2), std::nullopt);
  EXPECT_EQ(range(recent.find(kBen, 0)), Pair(2, 9));
}

TEST(RecentSubmissionsTest, PartsOfOneSubmissionAreOne) {
  RecentSubmissions recent;
  recent.add(kAda, {JobId{1}, JobId{5}}, false);
  recent.add(kAda, {JobId{6}, JobId{8}}, true);
  EXPECT_EQ(range(recent.find(kAda, 0)), Pair(1, 8));
  // Another user's jobs came between: what follows them is named by itself.
  recent.add(kAda, {JobId{20}, JobId{21}}, true);
  EXPECT_EQ(range(recent.find(kAda, 0)), Pair(20, 21));
}

TEST(RecentSubmissionsTest, KeepsSoManyAndNoMore) {
  RecentSubmissions recent;
  for (std::uint64_t i = 1; i <= 2 * RecentSubmissions::kMost; ++i) {
    recent.add(kAda, {JobId{i}, JobId{i}}, false);
  }
  EXPECT_EQ(range(recent.find(kAda, RecentSubmissions::kMost - 1)),
            Pair(RecentSubmissions::kMost + 1, RecentSubmissions::kMost + 1));
  EXPECT_EQ(recent.find(kAda, RecentSubmissions::kMost), std::nullopt);
}

}  // namespace
}  // namespace berth
