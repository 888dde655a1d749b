// How the parts of a description that have no column of their own become byte strings and back.
// Decoding gives nothing when the bytes make no sense. The formats are in docs/formats.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/description.h"

namespace berth {

std::string encode_needs(const Needs& needs);
std::optional<Needs> decode_needs(std::string_view bytes);

/// Empty for the default.
std::string encode_retry(const RetryRule& rule);
std::optional<RetryRule> decode_retry(std::string_view bytes);

/// Empty for none.
std::string encode_after(const std::vector<Dependency>& after);
std::optional<std::vector<Dependency>> decode_after(std::string_view bytes);

std::string encode_list(const std::vector<std::string>& values);
std::optional<std::vector<std::string>> decode_list(std::string_view bytes);

/// Empty for none.
std::string encode_sizes(const std::vector<Bytes>& sizes);
std::optional<std::vector<Bytes>> decode_sizes(std::string_view bytes);

/// One label as the table of labels refers to it.
std::string encode_label(std::string_view key, std::string_view value);
std::optional<std::pair<std::string, std::string>> decode_label(std::string_view bytes);

/// Output, error, labels, parameters and the warning signal; empty when all of them are at their
/// defaults. Later versions may add fields: unknown fields are skipped.
std::string encode_rest(const JobDescription& description);
/// Sets those fields of `description`; false when the bytes make no sense.
bool decode_rest(std::string_view bytes, JobDescription& description);

}  // namespace berth
