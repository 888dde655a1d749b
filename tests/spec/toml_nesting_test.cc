#include "spec/toml_nesting.h"

#include <gtest/gtest.h>

#include <string>

namespace berth {
namespace {

TEST(TomlNesting, WhatPeopleWriteIsNotDeep) {
  for (const std::string_view text :
       {"lr = [0.1, 0.2, 0.3, 0.4, 0.5]", "a.b.c = 1.5", "path = \"../../../../a.b.c.d\"",
        "x = '''\n....... ' '' .......\n'''", "# .......\na = 1 # .......", "[a.b]\nc = {d = [1]}",
        "x = \"\"\"a\\\"\" .....\"\"\"", "x = \"a\\\".......\"", "'a.......' = 1"}) {
    EXPECT_FALSE(find_deep_nesting(text, 4).has_value()) << text;
  }
}

TEST(TomlNesting, KeysWithManyDots) {
  for (const std::string_view text :
       {"a.b.c.d.e.f = 1", "[a.b.c.d.e.f]", "a . b . \"=\" . '[' . \"x\\\"\" . f = 1",
        "x = {a.b.c.d.e.f = 1}", "x = \"\"\"q\"\"\"\"\", y.\nb.c.d.e.f.g = 1",
        "x = [\"\"\"q\"\"\"\", {a.b.c.d.e.f = 1}]", "x = [[[[[1]]]]]",
        "x = {a={a={a={a={a=1}}}}}"}) {
    EXPECT_TRUE(find_deep_nesting(text, 4).has_value()) << text;
  }
}

}  // namespace
}  // namespace berth
