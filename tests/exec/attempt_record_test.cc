#include "exec/attempt_record.h"

#include <gtest/gtest.h>

#include <limits>

namespace berth {
namespace {

const AttemptName kName{JobId{12}, 3};
const AttemptName kOther{JobId{12}, 4};

std::string sealed_line() {
  UnbornRecord unborn(kName, "boot-id", "/sys/fs/cgroup/a b/c");
  unborn.set_shim({41, 1000, 1001});
  unborn.born_after(1002);
  unborn.seal(42, 1003);
  return {unborn.data(), unborn.size()};
}

TEST(AttemptRecord, ReadsBackWhatWasWritten) {
  const auto record = parse_attempt_record(sealed_line(), kName);
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->shim, (ProcessIdentity{41, 1000, 1001}));
  EXPECT_EQ(record->job, (ProcessIdentity{42, 1002, 1003}));
  EXPECT_EQ(record->boot_id, "boot-id");
  EXPECT_EQ(record->cgroup, "/sys/fs/cgroup/a b/c");
  UnbornRecord plain(kName, "boot-id", "");
  plain.seal(1, 2);
  EXPECT_EQ(parse_attempt_record({plain.data(), plain.size()}, kName)->cgroup, "");
}

TEST(AttemptRecord, NeverBelievesATornLine) {
  const std::string line = sealed_line();
  for (std::size_t size = 0; size < line.size(); ++size) {
    EXPECT_FALSE(parse_attempt_record(line.substr(0, size), kName).has_value()) << size;
  }
  for (std::size_t i = 0; i < line.size(); ++i) {
    std::string changed = line;
    changed[i] = changed[i] == '7' ? '8' : '7';
    EXPECT_FALSE(parse_attempt_record(changed, kName).has_value()) << i;
  }
  EXPECT_TRUE(parse_attempt_record(line + "torn", kName).has_value());
  EXPECT_FALSE(parse_attempt_record(line, kOther).has_value());
  const UnbornRecord unsealed(kName, "boot-id", "");
  EXPECT_FALSE(parse_attempt_record({unsealed.data(), unsealed.size()}, kName).has_value());
}

TEST(EndRecord, ReadsBackWhatWasWrittenAndNothingElse) {
  for (const EndRecord& record :
       {EndRecord{}, EndRecord{255, 0, 0, StartStep::None, 1'700'000'000'123'456'789},
        EndRecord{0, 64, 0, StartStep::None, 1}, EndRecord{127, 0, 133, StartStep::Command, 5},
        EndRecord{std::numeric_limits<int>::max(), 0, 0, StartStep::None,
                  std::numeric_limits<std::int64_t>::max()}}) {
    const EndLine end(record_name(kName), record);
    const std::string line(end.data(), end.size());
    EXPECT_EQ(parse_end_record(line, kName), record);
    for (std::size_t size = 0; size < line.size(); ++size) {
      EXPECT_FALSE(parse_end_record(line.substr(0, size), kName).has_value()) << size;
    }
    EXPECT_FALSE(parse_end_record(std::string(line.size(), '\0'), kName).has_value());
    EXPECT_EQ(parse_end_record(sealed_line() + line, kName), record);
    EXPECT_EQ(parse_end_record(std::string(100, '\0') + line, kName), record);
    EXPECT_FALSE(parse_end_record(line, kOther).has_value());
    // A file that was another attempt's before, with a longer first line.
    const EndLine other(record_name(kOther), EndRecord{1, 0, 0, StartStep::None, 1});
    const std::string older(other.data(), other.size());
    EXPECT_EQ(parse_end_record(line + older.substr(20), kName), record);
    EXPECT_EQ(parse_end_record(line + older, kName), record);
  }
}

TEST(RecordName, IsReadBack) {
  const AttemptName name{JobId{123}, 4};
  EXPECT_EQ(record_name(name), "123.4");
  EXPECT_EQ(record_name(name, ".exit"), "123.4.exit");
  EXPECT_EQ(parse_record_name("123.4"), name);
  EXPECT_EQ(parse_record_name("123.4.exit", ".exit"), name);
  for (const char* other : {"", ".", "launcher", "123", "123.", ".4", "123.4.exit", "123.4.tmp",
                            "-1.2", "1.70000", "1.2 ", "x.1"}) {
    EXPECT_FALSE(parse_record_name(other).has_value()) << other;
  }
}

}  // namespace
}  // namespace berth
