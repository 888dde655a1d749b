// Indices of arrays: those that are shown are those that could have been asked for.
#include <gtest/gtest.h>

#include "api/messages.h"

namespace berth {
namespace {

TEST(Arrays, IndicesEndWhereTheyMay) {
  const auto read = [](std::string_view fields) {
    return parse_submit_request(R"({"jobs":[{"command":"true",)" + std::string(fields) + "}]}");
  };
  EXPECT_TRUE(read(R"("array_index":1000000000)").has_value());
  EXPECT_TRUE(read(R"("array_index":999999999,"array":2)").has_value());
  EXPECT_TRUE(read(R"("array":2)").has_value());
  for (const std::string_view beyond :
       {R"("array_index":1000000000,"array":2)", R"("array_index":999999001,"array":1001)"}) {
    const Result<SubmitRequest> refused = read(beyond);
    ASSERT_FALSE(refused.has_value()) << beyond;
    EXPECT_EQ(refused.error().code, ErrorCode::Usage);
    EXPECT_NE(refused.error().message.find("1000000000"), std::string::npos);
  }
}

}  // namespace
}  // namespace berth
