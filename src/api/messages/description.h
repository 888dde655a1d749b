// Jobs in JSON: the fields that submissions, edits and reports have in common. Heavy: only for the
// files that define messages.
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

/// Also the limit for the last job of an array.
inline constexpr std::int64_t kMostArrayIndex = 1'000'000'000;

/// Writes what a job asks for, except its name, project and environment, as far as it differs from
/// a job without any settings. The fields go into the open object.
void write_wish(JsonWriter& out, const JobDescription& job);
/// Writes the whole description, likewise.
void write_description(JsonWriter& out, const JobDescription& job);

/// Reads the fields over what `job` says already.
void read_wish(FieldReader& reader, JobDescription& job);
/// Reads the whole description, within the bounds of a job. An error names the field. `elsewhere`
/// is the number of fields that are not part of a description and that other code reads.
Result<void> read_description(const Json& json, JobDescription& job, std::size_t elsewhere = 0);

/// "ok:12", "any:13", "notok:14", or just "12".
std::optional<std::pair<Dependency::When, std::uint64_t>> read_after(const std::string& word);

}  // namespace berth
