// The blocks of keys against a plain map.
#include "core/queue_keys.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace berth {
namespace {

using std::chrono::seconds;
using Plain = std::map<QueueKey, Duration>;  // the length of each

void expect_equal(const QueueKeys& keys, const Plain& plain) {
  ASSERT_EQ(keys.empty(), plain.empty());
  ASSERT_TRUE(
      std::equal(keys.begin(), keys.end(), plain.begin(), plain.end(),
                 [](const QueueKey& key, const auto& other) { return key == other.first; }));
  if (!plain.empty()) {
    EXPECT_EQ(keys.front(), plain.begin()->first);
  }
}

void expect_first(const QueueKeys& keys, const Plain& plain, Duration longest) {
  const auto wanted = std::find_if(plain.begin(), plain.end(),
                                   [&](const auto& each) { return each.second <= longest; });
  const QueueKeys::Place* found = keys.first(longest);
  ASSERT_EQ(found == nullptr, wanted == plain.end());
  if (found != nullptr) {
    EXPECT_EQ(found->key, wanted->first);
    EXPECT_EQ(found->length, wanted->second);
  }
}

TEST(QueueKeys, AreThoseOfAMap) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    QueueKeys keys;
    Plain plain;
    for (std::uint64_t i = 0; i < 3000; ++i) {
      // First they become many, then fewer.
      if (random.below(4) != 0 && i < 2000) {
        const QueueKey key{static_cast<Rank>(random.below(seed % 2 == 0 ? 50 : 1)), JobId{i}};
        const Duration length = random.below(9) == 0 ? kForever : seconds(random.below(1000));
        keys.insert(key, length);
        plain.emplace(key, length);
      } else if (!plain.empty()) {
        auto gone = plain.begin();
        std::advance(gone,
                     static_cast<long>(random.below(random.below(2) == 0 ? 1 : plain.size())));
        EXPECT_TRUE(keys.contains(gone->first));
        EXPECT_TRUE(keys.erase(gone->first));
        EXPECT_FALSE(keys.contains(gone->first));
        EXPECT_FALSE(keys.erase(gone->first));
        plain.erase(gone);
      }
      expect_first(keys, plain, seconds(random.below(50)));
      expect_first(keys, plain, kForever);
      if (i % 50 == 0) {
        expect_equal(keys, plain);
      }
    }
    expect_equal(keys, plain);
  }
}

}  // namespace
}  // namespace berth
