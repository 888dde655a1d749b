// Helpers to write a sweep and to list all of it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "spec/sweep.h"

namespace berth {

inline Param param(std::string_view name, std::string_view values) {
  Result<Param> parsed = Param::parse(name, values);
  EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().message);
  return *std::move(parsed);
}

inline std::vector<std::string> texts_of(const Param& values) {
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < values.size().value_or(0); ++i) {
    texts.push_back(values.at(i).text);
  }
  return texts;
}

inline std::vector<std::string> commands_of(const SweepSpec& spec, std::uint64_t seed = 0) {
  const Result<Sweep> sweep = Sweep::make(spec);
  EXPECT_TRUE(sweep.has_value()) << (sweep ? "" : sweep.error().message);
  std::vector<std::string> commands;
  if (sweep) {
    for (SweepCursor cursor(*sweep, seed); cursor.next();) {
      commands.push_back(cursor.command());
    }
  }
  return commands;
}

template <class T>
std::string message_of(const Result<T>& result) {
  return result ? "(no error)" : result.error().message;
}

/// For INSTANTIATE_TEST_SUITE_P over rows with a `name`.
constexpr auto kRowName = [](const auto& info) { return std::string(info.param.name); };

}  // namespace berth
