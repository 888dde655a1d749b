// Jobs in JSON: the fields that submissions, edits and reports have in common. Heavy: for the files
// that define messages alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/json_writer.h"
#include "api/messages/field_reader.h"
#include "api/messages/json.h"
#include "core/description.h"

namespace berth {

/// Of the last job of an array, too.
inline constexpr std::int64_t kMostArrayIndex = 1'000'000'000;

/// What a job asks for, but for its name, project and environment; only what differs from a job
/// about which nothing was said. Fields of the object that is open.
void write_wish(JsonWriter& out, const JobDescription& job);
/// The whole of it, likewise.
void write_description(JsonWriter& out, const JobDescription& job);

/// Over what `job` says already.
void read_wish(FieldReader& reader, JobDescription& job);
/// The whole, within the bounds of a job; an error names the field. `elsewhere`: how many of the
/// fields are not part of a description and read by somebody else.
Result<void> read_description(const Json& json, JobDescription& job, std::size_t elsewhere = 0);

/// "ok:12", "any:13", "notok:14", or just "12".
std::optional<std::pair<Dependency::When, std::uint64_t>> read_after(const std::string& word);

}  // namespace berth
