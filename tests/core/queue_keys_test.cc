// The blocks of keys against a plain set.
#include "core/queue_keys.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"

namespace berth {
namespace {

void expect_equal(const QueueKeys& keys, const std::set<QueueKey>& plain) {
  ASSERT_EQ(keys.empty(), plain.empty());
  ASSERT_TRUE(std::equal(keys.begin(), keys.end(), plain.begin(), plain.end()));
  if (!plain.empty()) {
    EXPECT_EQ(keys.front(), *plain.begin());
  }
}

TEST(QueueKeys, AreThoseOfASet) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    QueueKeys keys;
    std::set<QueueKey> plain;
    for (std::uint64_t i = 0; i < 3000; ++i) {
      // First they become many, then fewer.
      if (random.below(4) != 0 && i < 2000) {
        const QueueKey key{static_cast<Rank>(random.below(seed % 2 == 0 ? 50 : 1)), JobId{i}};
        keys.insert(key);
        plain.insert(key);
      } else if (!plain.empty()) {
        auto gone = plain.begin();
        std::advance(gone,
                     static_cast<long>(random.below(random.below(2) == 0 ? 1 : plain.size())));
        EXPECT_TRUE(keys.contains(*gone));
        EXPECT_TRUE(keys.erase(*gone));
        EXPECT_FALSE(keys.contains(*gone));
        EXPECT_FALSE(keys.erase(*gone));
        plain.erase(gone);
      }
      if (i % 50 == 0) {
        expect_equal(keys, plain);
      }
    }
    expect_equal(keys, plain);
  }
}

}  // namespace
}  // namespace berth
