// The two kinds of JSON in commands, by the same names everywhere.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace berth {

/// What the daemon answers. Keys are sorted.
using Json = nlohmann::json;
/// What is printed for programs to read. Keys are in the order in which they were set.
using OrderedJson = nlohmann::ordered_json;

/// Bytes that are not UTF-8 are replaced. On one line, or with each level indented by `indent`.
std::string json_text(const OrderedJson& json, int indent = -1);

}  // namespace berth
