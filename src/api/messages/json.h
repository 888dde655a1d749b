// Reading JSON within bounds, for the files that read messages. Heavy: for those alone.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "api/json_parts.h"
#include "base/ids.h"
#include "base/result.h"

namespace berth {

using Json = nlohmann::ordered_json;

/// A value that is at most so long as JSON, and within the bounds of what one message may hold.
Result<Json> parse_part(std::string_view text, std::size_t longest);
/// The same for one whose extent is known.
Result<Json> parse_part(std::string_view text, const JsonExtent& extent, std::size_t longest);
/// An object, or an error.
Result<Json> parse_object(std::string_view text);
/// What a JSON string says.
std::string key_of(std::string_view text);
/// A field whose value is not what the message wants: "mem must be a text".
Failure wrong_field(std::string_view field, std::string_view wanted);
/// Any text in quotes, for an error: cut short where it is long.
std::string shown(std::string_view text);

Result<std::string> read_token(std::string_view text);

/// "daemon" (0), or a job's number.
Result<JobId> read_environment_from(const Json& json);

}  // namespace berth
