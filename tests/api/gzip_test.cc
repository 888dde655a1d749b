// Packed answers: who wants them, and that they hold what they should.
#include "api/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace berth {
namespace {

TEST(Gzip, IsForThoseWhoAcceptIt) {
  for (const char* text : {"gzip", "gzip, deflate, br", "br;q=1.0, GZIP ; q=0.5", "deflate,gzip"}) {
    EXPECT_TRUE(accepts_gzip(text)) << text;
  }
  for (const char* text : {"", "br", "gzip;q=0", "gzip; q=0.000, br", "xgzip", "*;q=0", ",;,"}) {
    EXPECT_FALSE(accepts_gzip(text)) << text;
  }
}

TEST(Gzip, HoldsTheText) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) {
    text += R"({"state":"queued"},)";
  }
  const std::string packed = gzip(text);
  EXPECT_LT(packed.size(), text.size() / 10);
  z_stream stream{};
  ASSERT_EQ(::inflateInit2(&stream, 15 + 16), Z_OK);
  std::string unpacked(text.size() + 1, ' ');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(unpacked.data());
  stream.avail_out = static_cast<uInt>(unpacked.size());
  EXPECT_EQ(::inflate(&stream, Z_FINISH), Z_STREAM_END);
  unpacked.erase(stream.total_out);
  ::inflateEnd(&stream);
  EXPECT_EQ(unpacked, text);
}

}  // namespace
}  // namespace berth
