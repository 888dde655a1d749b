// What a daemon and its helpers for other users' files send each other, and one look at a file.
// tests/security/foreign_logs_test.py has the helpers themselves.
#include <gtest/gtest.h>
#include <sys/inotify.h>

#include <cerrno>

#include "base/fd.h"
#include "daemon/user_files_wire.h"

namespace berth {
namespace {

TEST(UserFilesWire, QuestionsComeBackAsTheyWere) {
  const FileQuestion asked{"/a path\n", 1ULL << 40, 7, true, 16384, true};
  const Result<FileQuestion> read = decode_question(encode_question(asked));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->path, asked.path);
  EXPECT_EQ(read->offset, asked.offset);
  EXPECT_EQ(read->tail, asked.tail);
  EXPECT_EQ(read->from_end, asked.from_end);
  EXPECT_EQ(read->most, asked.most);
  EXPECT_EQ(read->watch, asked.watch);
}

TEST(UserFilesWire, AnswersComeBackAsTheyWere) {
  const FileAnswer told{ENOENT, true, 5, 3, std::string("a\0b", 3), 12};
  const Result<FileAnswer> read = decode_answer(encode_answer(told));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->error, told.error);
  EXPECT_EQ(read->refused, told.refused);
  EXPECT_EQ(read->size, told.size);
  EXPECT_EQ(read->offset, told.offset);
  EXPECT_EQ(read->bytes, told.bytes);
  EXPECT_EQ(read->watch, told.watch);
}

TEST(UserFilesWire, AnAnswerWithAllItsBytesFitsIntoAMessage) {
  FileAnswer told;
  told.bytes = std::string(kMostBytes, 'x');
  EXPECT_LE(encode_answer(told).size(), kMostInMessage);
}

TEST(UserFilesWire, NonsenseIsAnError) {
  const std::string message = encode_answer({0, false, 5, 3, "text", -1});
  for (std::size_t size = 0; size < message.size(); ++size) {
    EXPECT_FALSE(decode_answer(message.substr(0, size))) << size;
  }
  EXPECT_FALSE(decode_answer(message + "x"));
  EXPECT_FALSE(decode_answer(encode_answer({100'000, false, 5, 3, "text", -1})));
  EXPECT_FALSE(decode_answer(encode_answer({0, false, 5, 3, "text", -2})));
  EXPECT_FALSE(decode_question("nonsense"));
}

TEST(OutputFile, TheLastBytesAreAsManyAsThereAre) {
  const Fd changes(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  FileQuestion question;
  question.path = BERTH_TESTS_DIR "/daemon/user_files_test.cc";
  question.from_end = true;
  question.most = 22;
  EXPECT_EQ(look_at(question, changes.get()).bytes, "}  // namespace berth\n");
}

}  // namespace
}  // namespace berth
