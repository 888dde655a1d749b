#include "api/json_parts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth {
namespace {

using Texts = std::vector<std::string>;

Texts parts_of(std::string_view text, JsonParts::Of of) {
  Texts texts;
  JsonParts parts(text, of);
  while (parts.next()) {
    texts.push_back(of == JsonParts::Of::Object
                        ? std::string(parts.key()) + "=" + std::string(parts.value())
                        : std::string(parts.value()));
  }
  if (parts.failed()) {
    texts.emplace_back("(failed)");
  }
  return texts;
}

TEST(JsonParts, MembersOfAnObject) {
  EXPECT_EQ(parts_of(R"( { "a" : 1 , "b,}" : [ {"c": "]\""} , 2 ] } )", JsonParts::Of::Object),
            (Texts{R"("a"=1)", R"("b,}"=[ {"c": "]\""} , 2 ])"}));
  EXPECT_EQ(parts_of("{}", JsonParts::Of::Object), Texts{});
}

TEST(JsonParts, ElementsOfAnArray) {
  EXPECT_EQ(parts_of(R"([1,"a",{},[[]],null])", JsonParts::Of::Array),
            (Texts{"1", R"("a")", "{}", "[[]]", "null"}));
  EXPECT_EQ(parts_of("[ ]", JsonParts::Of::Array), Texts{});
}

TEST(JsonParts, WhatIsNone) {
  for (const std::string_view text :
       {"", " ", "1", "[", "{", "{a:1}", R"({"a"})", R"({"a":})", R"({"a":1,})", R"({"a":1 "b":2})",
        R"({"a":1}x)", R"({"a":1}{})", R"({"a":"x)", R"({"a":[1})", R"({,"a":1})", R"({"a":"\)"}) {
    EXPECT_EQ(parts_of(text, JsonParts::Of::Object).back(), "(failed)") << text;
  }
  for (const std::string_view text : {"[1,]", "[,1]", "[1 2]", "[1", "[1]]", "[[1]"}) {
    EXPECT_EQ(parts_of(text, JsonParts::Of::Array).back(), "(failed)") << text;
  }
}

TEST(JsonParts, HowMuchThereIs) {
  const JsonExtent extent = json_extent(R"([1,{"a":[2,3],"b":"[[["}])", 0);
  EXPECT_EQ(extent.depth, 3U);
  EXPECT_EQ(extent.values, 7U);
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  EXPECT_EQ(json_extent(deep, 0).depth, 1'000'000U);
  EXPECT_EQ(json_extent(deep, 0).end, deep.size());
}

}  // namespace
}  // namespace berth
