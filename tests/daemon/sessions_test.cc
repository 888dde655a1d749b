// Signing in: codes that work once and for a while, and sessions that outlive the daemon.
#include "daemon/sessions.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

using std::chrono::hours;
using std::chrono::nanoseconds;

constexpr Time kNow = Time(hours(24) * 20'000);
const std::string kCode(32, 'c');
const std::string kToken(64, 't');

std::string numbered(int i) { return std::to_string(i) + std::string(64, 'x'); }

TEST(Sessions, ACodeBecomesASessionOfWhoAsked) {
  Sessions sessions;
  sessions.add_code(kCode, 1000, kNow);
  EXPECT_FALSE(sessions.find(kCode, kNow).has_value()) << "a code is no token";
  EXPECT_EQ(sessions.begin(kCode, kToken, kNow), uid_t{1000});
  const std::optional<Peer> peer = sessions.find(kToken, kNow);
  ASSERT_TRUE(peer.has_value());
  EXPECT_FALSE(peer->local);
  EXPECT_EQ(peer->uid, uid_t{1000});
  EXPECT_NE(peer->session, 0U);
}

TEST(Sessions, ACodeWorksOnce) {
  Sessions sessions;
  sessions.add_code(kCode, 1000, kNow);
  EXPECT_TRUE(sessions.begin(kCode, kToken, kNow).has_value());
  EXPECT_FALSE(sessions.begin(kCode, numbered(2), kNow).has_value());
  EXPECT_FALSE(sessions.find(numbered(2), kNow).has_value());
}

TEST(Sessions, ACodeIsForItsUserAlone) {
  Sessions sessions;
  sessions.add_code(kCode, 1000, kNow);
  EXPECT_FALSE(sessions.begin(kCode, kToken, kNow, 1001).has_value());
  EXPECT_TRUE(sessions.begin(kCode, kToken, kNow, 1000).has_value()) << "the try used nothing up";
  sessions.add_code(kCode, 1000, kNow);
  EXPECT_EQ(sessions.begin(kCode, kToken, kNow, 0), uid_t{1000});
}

TEST(Sessions, ACodeLivesForTwoMinutes) {
  Sessions sessions;
  sessions.add_code(kCode, 1000, kNow);
  sessions.add_code("later" + kCode, 1000, kNow + nanoseconds(1));
  EXPECT_FALSE(sessions.begin(kCode, kToken, kNow + std::chrono::minutes(2)).has_value());
  EXPECT_TRUE(sessions.begin("later" + kCode, kToken, kNow + std::chrono::minutes(2)).has_value());
}

TEST(Sessions, AGuessIsNoCode) {
  Sessions sessions;
  EXPECT_FALSE(sessions.begin("", kToken, kNow).has_value());
  sessions.add_code(kCode, 1000, kNow);
  for (const std::string& guess : {std::string(), kCode.substr(1), kCode + "c", kCode + kCode,
                                   std::string(32, 'd'), std::string(1, 'c')}) {
    EXPECT_FALSE(sessions.begin(guess, kToken, kNow).has_value()) << guess;
  }
  EXPECT_TRUE(sessions.begin(kCode, kToken, kNow).has_value()) << "guesses use nothing up";
}

TEST(Sessions, TheCodesOfOneUserPushOutTheirOwnOnly) {
  Sessions sessions;
  sessions.add_code(kCode, 7, kNow);
  for (int i = 0; i < 17; ++i) {
    sessions.add_code(numbered(i), 1000, kNow);
  }
  EXPECT_FALSE(sessions.begin(numbered(0), kToken, kNow).has_value());
  EXPECT_TRUE(sessions.begin(numbered(1), kToken, kNow).has_value());
  EXPECT_EQ(sessions.begin(kCode, kToken + "7", kNow), uid_t{7});
}

TEST(Sessions, TheTextBringsThemBackWithoutTheCodes) {
  Sessions before;
  before.add_code(kCode, 1000, kNow);
  before.add_code("another" + kCode, 0, kNow);
  EXPECT_FALSE(before.changed());
  (void)before.begin(kCode, kToken, kNow);
  EXPECT_TRUE(before.changed());
  Sessions after(before.text());
  EXPECT_FALSE(after.changed());
  EXPECT_EQ(after.text(), before.text());
  ASSERT_TRUE(after.find(kToken, kNow).has_value());
  EXPECT_EQ(after.find(kToken, kNow)->uid, uid_t{1000});
  EXPECT_FALSE(after.begin("another" + kCode, numbered(1), kNow).has_value());
}

TEST(Sessions, LinesThatMakeNoSenseAreLeftOut) {
  const std::string good = kToken + " 1000 1728000000\n";
  for (const std::string& line :
       {std::string("\n"), std::string("short 1000 1728000000\n"), kToken + " -1 1728000000\n",
        kToken + " 4294967295 1728000000\n", kToken + " x 1728000000\n", kToken + " 1000\n",
        kToken + " 1000 -5\n", kToken + " 1000 99999999999999\n"}) {
    EXPECT_EQ(Sessions(line).text(), "") << line;
    EXPECT_EQ(Sessions(line + good).text(), good) << line;
  }
}

TEST(Sessions, EndThirtyDaysAfterTheirLastUse) {
  Sessions sessions;
  sessions.add_code(kCode, 1000, kNow);
  (void)sessions.begin(kCode, kToken, kNow);
  sessions.saved();
  EXPECT_TRUE(sessions.find(kToken, kNow + hours(23)).has_value());
  EXPECT_FALSE(sessions.changed()) << "a use on the same day is not worth writing down";
  const Time used = kNow + hours(24) * 29;
  EXPECT_TRUE(sessions.find(kToken, used).has_value());
  EXPECT_TRUE(sessions.changed());
  const std::string text = sessions.text();
  EXPECT_TRUE(Sessions(text).find(kToken, used + Sessions::kUnused - hours(1)).has_value());
  EXPECT_FALSE(Sessions(text).find(kToken, used + Sessions::kUnused).has_value());
}

TEST(Sessions, EndWhenTold) {
  Sessions sessions;
  for (int i = 0; i < 2; ++i) {
    sessions.add_code(kCode, 1000, kNow);
    (void)sessions.begin(kCode, numbered(i), kNow);
  }
  sessions.saved();
  sessions.end(sessions.find(numbered(0), kNow)->session);
  EXPECT_TRUE(sessions.changed());
  EXPECT_FALSE(sessions.find(numbered(0), kNow).has_value());
  EXPECT_TRUE(sessions.find(numbered(1), kNow).has_value());
  sessions.saved();
  sessions.end(99);
  EXPECT_FALSE(sessions.changed());
  sessions.end_all();
  EXPECT_TRUE(sessions.changed());
  EXPECT_EQ(sessions.text(), "");
}

TEST(Sessions, TooManyOfOneUserEndTheOneUnusedForLongest) {
  Sessions sessions;
  for (int i = 0; i < 64; ++i) {
    sessions.add_code(kCode, 1000, kNow);
    (void)sessions.begin(kCode, numbered(i), kNow);
  }
  const Time later = kNow + hours(25);
  EXPECT_TRUE(sessions.find(numbered(0), later).has_value());
  sessions.add_code(kCode, 1000, later);
  (void)sessions.begin(kCode, kToken, later);
  EXPECT_TRUE(sessions.find(numbered(0), later).has_value());
  EXPECT_FALSE(sessions.find(numbered(1), later).has_value());
  EXPECT_TRUE(sessions.find(kToken, later).has_value());
}

}  // namespace
}  // namespace berth
