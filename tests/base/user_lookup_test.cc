#include "base/user_lookup.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace berth {
namespace {

Result<UserIdentity> wait_for(UserLookup& users, uid_t user) {
  for (;;) {
    if (std::optional<Result<UserIdentity>> found = users.find(user)) {
      return *found;
    }
    pollfd told{users.event_fd(), POLLIN, 0};
    if (::poll(&told, 1, 30'000) != 1) {
      return fail(ErrorCode::Timeout, "nobody has answered");
    }
    users.clear_event();
  }
}

TEST(UserLookup, TellsLater) {
  UserLookup users;
  EXPECT_FALSE(users.find(0));
  const Result<UserIdentity> root = wait_for(users, 0);
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(root->name, "root");
  EXPECT_FALSE(root->home.empty());
  // Once: the next is asked anew.
  EXPECT_FALSE(users.find(0));
}

TEST(UserLookup, NobodyIsAnAnswerToo) {
  UserLookup users;
  EXPECT_EQ(wait_for(users, 4'000'000'000).error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace berth
