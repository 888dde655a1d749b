// JSON as it is written: brackets, commas, texts that are no text, and numbers that are none.
#include "api/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace berth {
namespace {

struct Point {
  int x = 0;
  int y = 0;
};

void write(JsonWriter& json, const Point& point) {
  json.object([&] {
    json.field("x", point.x);
    json.field("y", point.y);
  });
}

template <class T>
std::string json_of(const T& value) {
  JsonWriter json;
  json.value(value);
  return json.take();
}

TEST(JsonWriter, BracketsAndCommas) {
  JsonWriter json;
  json.object([&] {
    json.object("empty", [] {});
    json.array("none", [] {});
    json.array("list", [&] {
      json.value(1);
      json.object([&] { json.field("a", nullptr); });
      json.value("x");
    });
    json.field("last", true);
  });
  EXPECT_EQ(json.take(), R"({"empty":{},"none":[],"list":[1,{"a":null},"x"],"last":true})");
}

TEST(JsonWriter, Indented) {
  JsonWriter json(2);
  json.object([&] {
    json.field("version", 1);
    json.array("list", [&] { json.object([&] { json.field("a", 1.5); }); });
    json.array("none", [] {});
  });
  EXPECT_EQ(json.take(),
            "{\n  \"version\": 1,\n  \"list\": [\n    {\n      \"a\": 1.5\n    }\n  ],\n"
            "  \"none\": []\n}");
}

TEST(JsonWriter, Values) {
  EXPECT_EQ(json_of(std::int64_t{-5}), "-5");
  EXPECT_EQ(json_of(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(json_of(std::uint8_t{7}), "7");
  EXPECT_EQ(json_of(true), "true");
  EXPECT_EQ(json_of(false), "false");
  EXPECT_EQ(json_of(nullptr), "null");
  EXPECT_EQ(json_of("a"), R"("a")");
  EXPECT_EQ(json_of(std::string("a")), R"("a")");
  EXPECT_EQ(json_of(std::string_view("a")), R"("a")");
  EXPECT_EQ(json_of(0.1), "0.1");
  EXPECT_EQ(json_of(1700000000.25), "1700000000.25");
  EXPECT_EQ(json_of(std::nan("")), "null");
  EXPECT_EQ(json_of(HUGE_VAL), "null");
  EXPECT_EQ(json_of(Bytes{7}), "7");
  EXPECT_EQ(json_of(JobId{12}), "12");
  EXPECT_EQ(json_of(std::optional<int>()), "null");
  EXPECT_EQ(json_of(std::optional<bool>(false)), "false");
  EXPECT_EQ(json_of(std::vector<bool>{true, false}), "[true,false]");
  EXPECT_EQ(json_of(std::vector<std::optional<double>>{0.5, std::nullopt}), "[0.5,null]");
  EXPECT_EQ(json_of(std::vector<std::string>{"a", "b"}), R"(["a","b"])");
  EXPECT_EQ(json_of(std::map<std::string, int>{{"a", 1}, {"b", 2}}), R"({"a":1,"b":2})");
  EXPECT_EQ(json_of(std::vector<Point>{{1, 2}}), R"([{"x":1,"y":2}])");
  JsonWriter json;
  json.object([&] {
    json.field("a", 2.0 / 3, 3);
    json.field("b", std::nan(""), 3);
  });
  EXPECT_EQ(json.take(), R"({"a":0.667,"b":null})");
}

TEST(JsonWriter, Texts) {
  EXPECT_EQ(quote(""), R"("")");
  EXPECT_EQ(quote("a \"b\" \\ /"), R"("a \"b\" \\ /")");
  EXPECT_EQ(quote("\n\t\r\b\f\x01\x1f\x7f"), "\"\\n\\t\\r\\b\\f\\u0001\\u001f\x7f\"");
  EXPECT_EQ(quote(std::string_view("a\0b", 3)), R"("a\u0000b")");
  EXPECT_EQ(quote("grün €  😀"), "\"grün €  😀\"");
}

TEST(JsonWriter, BytesThatAreNoUtf8AreReplaced) {
  constexpr std::string_view kInstead = "\xEF\xBF\xBD";
  const auto replaced = [&](std::string_view before, std::string_view after) {
    return "\"" + std::string(before) + std::string(kInstead) + std::string(after) + "\"";
  };
  EXPECT_EQ(quote("a\xff"
                  "b"),
            replaced("a", "b"));
  EXPECT_EQ(quote("\xC0"), replaced("", ""));
  EXPECT_EQ(quote("\xE2\x82"), replaced("", ""));    // cut off
  EXPECT_EQ(quote("\xE2\x82x"), replaced("", "x"));  // what follows is kept
  EXPECT_EQ(quote("\xF0\x9F\x98\""), replaced("", R"(\")"));
  EXPECT_EQ(quote("\xED\xA0\x80"), "\"" + std::string(kInstead) + std::string(kInstead) +
                                       std::string(kInstead) + "\"");  // a surrogate
}

}  // namespace
}  // namespace berth
