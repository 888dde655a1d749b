// Output to a socket that takes all, some, or nothing.
#include "api/output_buffer.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "api/spare_memory.h"
#include "base/fd.h"

namespace berth {
namespace {

using Sent = OutputBuffer::Sent;

class OutputBufferTest : public ::testing::Test {
 protected:
  OutputBufferTest() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    near_ = Fd(ends[0]);
    far_ = Fd(ends[1]);
  }

  /// What has arrived at the other end by now.
  std::string read() {
    std::string out;
    std::array<char, 65536> part;
    for (;;) {
      const ssize_t got = ::recv(far_.get(), part.data(), part.size(), MSG_DONTWAIT);
      if (got <= 0) {
        return out;
      }
      out.append(part.data(), static_cast<std::size_t>(got));
    }
  }

  OutputBuffer output_;
  Fd near_;
  Fd far_;
};

TEST_F(OutputBufferTest, SendsWhatIsThere) {
  EXPECT_EQ(output_.send_to(near_.get()), Sent::Nothing);
  output_.text() += "one ";
  output_.text() += "two";
  EXPECT_EQ(output_.unsent(), 7U);
  EXPECT_EQ(output_.send_to(near_.get()), Sent::Some);
  EXPECT_EQ(output_.unsent(), 0U);
  EXPECT_EQ(read(), "one two");
}

TEST_F(OutputBufferTest, GoesOnWhereTheSocketWasFull) {
  std::string all;
  for (int i = 0; all.size() < 2 * OutputBuffer::kMostAtOnce; ++i) {
    all += std::to_string(i) + " ";
  }
  output_.text() = all;
  EXPECT_EQ(output_.send_to(near_.get()), Sent::Some);
  EXPECT_GT(output_.unsent(), 0U);
  EXPECT_EQ(output_.send_to(near_.get()), Sent::Nothing);  // it is full
  std::string got = read();
  output_.text() += "end";
  while (output_.unsent() > 0) {
    ASSERT_EQ(output_.send_to(near_.get()), Sent::Some);
    got += read();
    EXPECT_EQ(got.size() + output_.unsent(), all.size() + 3);
  }
  EXPECT_TRUE(got == all + "end");
}

TEST_F(OutputBufferTest, KeepsLittleMemoryWhenAllIsSent) {
  output_.text().append(4 * kKeptCapacity, 'x');
  while (output_.unsent() > 0) {
    ASSERT_EQ(output_.send_to(near_.get()), Sent::Some);
    read();
  }
  EXPECT_LE(output_.text().capacity(), kKeptCapacity);
}

TEST_F(OutputBufferTest, TellsWhenNobodyCanReadAnyMore) {
  far_.reset();
  EXPECT_EQ(output_.send_to(near_.get()), Sent::Nothing);
  output_.text() += "x";
  EXPECT_EQ(output_.send_to(near_.get()), Sent::Broken);
}

}  // namespace
}  // namespace berth
