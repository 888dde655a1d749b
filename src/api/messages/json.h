// Reads JSON within bounds. Heavy: only for the files that read messages.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "api/json_parts.h"
#include "base/ids.h"
#include "base/result.h"

namespace berth {

using Json = nlohmann::ordered_json;

/// Parses a value of at most `longest` bytes of JSON, within the bounds of one message.
Result<Json> parse_part(std::string_view text, std::size_t longest);
/// The same for a value whose extent is known.
Result<Json> parse_part(std::string_view text, const JsonExtent& extent, std::size_t longest);
/// An object, or an error.
Result<Json> parse_object(std::string_view text);
/// The text of a JSON string.
std::string key_of(std::string_view text);
/// The error for a field with a wrong value: "mem must be a text".
Failure wrong_field(std::string_view field, std::string_view wanted);
/// Any text in quotes, for an error. A long text is cut short.
std::string shown(std::string_view text);

Result<std::string> read_token(std::string_view text);

/// "daemon" (0), or a job's number.
Result<JobId> read_environment_from(const Json& json);

}  // namespace berth
