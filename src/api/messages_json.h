// How jobs look in JSON, for the files that write and read messages. Heavy: for those alone.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "api/json_parts.h"
#include "api/messages.h"

namespace berth {

using Json = nlohmann::ordered_json;

/// Of the last job of an array, too.
inline constexpr std::int64_t kMostArrayIndex = 1'000'000'000;

/// What a user typed need not be UTF-8; JSON must be.
std::string text_of(const Json& json);
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

/// Only what differs from a job about which nothing was said.
Json description_json(const JobDescription& job);
/// Over what `job` says already; an error names the field. `elsewhere`: how many of the fields are
/// not part of a description and read by somebody else.
Result<void> read_description(const Json& json, JobDescription& job, std::size_t elsewhere = 0);
/// The same with what only submissions know: arrays, and the jobs of the same submission.
Json submitted_json(const SubmittedJob& job);
/// `position` is that of the job in its submission, from 0.
Result<void> read_submitted(const Json& json, SubmittedJob& job, std::size_t position);

}  // namespace berth
