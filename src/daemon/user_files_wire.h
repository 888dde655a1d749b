// The messages between UserFiles and its helpers: one for a question, one for its answer.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "daemon/output_file.h"

namespace berth {

/// The numbers of a helper's descriptors.
constexpr int kHelperSocket = 3;
constexpr int kHelperChanges = 4;

/// The most bytes in a message of either kind, including what surrounds the file's bytes. A Unix
/// socket takes that much at once.
constexpr std::size_t kMostInMessage = std::size_t{128} << 10;
/// The most bytes of a file in one answer.
constexpr std::size_t kMostBytes = std::size_t{96} << 10;

std::string encode_question(const FileQuestion& question);
Result<FileQuestion> decode_question(std::string_view message);
std::string encode_answer(const FileAnswer& answer);
Result<FileAnswer> decode_answer(std::string_view message);

}  // namespace berth
