// What UserFiles and its helpers send each other: one message for a question, one for its answer.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "daemon/output_file.h"

namespace berth {

/// The numbers of a helper's descriptors.
constexpr int kHelperSocket = 3;
constexpr int kHelperChanges = 4;

/// Both kinds, with what surrounds the bytes; a Unix socket takes it at once.
constexpr std::size_t kMostInMessage = std::size_t{128} << 10;
/// Of a file in one answer.
constexpr std::size_t kMostBytes = std::size_t{96} << 10;

std::string encode_question(const FileQuestion& question);
Result<FileQuestion> decode_question(std::string_view message);
std::string encode_answer(const FileAnswer& answer);
Result<FileAnswer> decode_answer(std::string_view message);

}  // namespace berth
