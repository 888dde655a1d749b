#include "daemon/user_files_wire.h"

#include <limits>

#include "store/coding.h"

namespace berth {

std::string encode_question(const FileQuestion& question) {
  return Encoder()
      .text(question.path)
      .number(question.offset)
      .integer(question.tail)
      .number(question.from_end ? 1 : 0)
      .number(question.most)
      .number(question.watch ? 1 : 0)
      .take();
}

Result<FileQuestion> decode_question(std::string_view message) {
  Decoder in(message);
  FileQuestion question;
  question.path = in.text();
  question.offset = in.number();
  question.tail = in.integer();
  question.from_end = in.number() != 0;
  question.most = in.number();
  question.watch = in.number() != 0;
  if (in.failed() || !in.at_end()) {
    return fail(ErrorCode::Io, "the question makes no sense");
  }
  return question;
}

std::string encode_answer(const FileAnswer& answer) {
  return Encoder()
      .number(static_cast<std::uint64_t>(answer.error))
      .number(answer.refused ? 1 : 0)
      .number(answer.size)
      .number(answer.offset)
      .text(answer.bytes)
      .integer(answer.watch)
      .take();
}

Result<FileAnswer> decode_answer(std::string_view message) {
  constexpr std::uint64_t kLargestError = 4095;
  Decoder in(message);
  FileAnswer answer;
  answer.error = static_cast<int>(in.number_up_to(kLargestError));
  answer.refused = in.number() != 0;
  answer.size = in.number();
  answer.offset = in.number();
  answer.bytes = in.text();
  const std::int64_t watch = in.integer();
  if (in.failed() || !in.at_end() || watch < -1 || watch > std::numeric_limits<int>::max()) {
    return fail(ErrorCode::Io, "the answer makes no sense");
  }
  answer.watch = static_cast<int>(watch);
  return answer;
}

}  // namespace berth
