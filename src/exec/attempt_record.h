// The record that a shim keeps of an attempt, in the folder of a ShimRunner: one file of one or two
// lines.
//
//   JOB.ATTEMPT        the processes that run it. The name is given once, so that the attempt
//                      cannot run twice. The line is written before the command starts: without a
//                      complete line, the command has not started.
//   JOB.ATTEMPT.exit   the same file under its last name, once the second line tells how the
//                      attempt ended. The line is written and, if necessary, synced; then the file
//                      is renamed. The end takes no more room than the file already has, so a full
//                      disk seldom stands in its way.
//
// Both lines name the attempt and end in a checksum. A line that does not match is never believed,
// so the file of a finished attempt can serve another attempt as it is. (ext4 looks at every file
// that was deleted in the last seconds before it makes a new one: a file per job would cost more
// than the job.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "exec/process_identity.h"
#include "exec/raw_syscall.h"

namespace berth {

struct AttemptName {
  JobId job;
  std::uint16_t attempt = 0;

  friend auto operator<=>(const AttemptName&, const AttemptName&) = default;
};

/// "JOB.ATTEMPT", and the same with an ending.
std::string record_name(const AttemptName& name, std::string_view ending = "");
/// The reverse; nothing for a file that belongs to no attempt. `ending` follows the name.
std::optional<AttemptName> parse_record_name(std::string_view file, std::string_view ending = "");

struct AttemptRecord {
  ProcessIdentity shim;
  ProcessIdentity job;
  std::string boot_id;
  std::string cgroup;  // path, or empty
};

/// The line of a job that is about to be born. The child itself fills in its own part, between
/// clone and exec, because no other process could do that early enough without making the child
/// wait.
class UnbornRecord {
 public:
  UnbornRecord(const AttemptName& name, const std::string& boot_id, const std::string& cgroup);
  UnbornRecord(const UnbornRecord&) = delete;
  UnbornRecord& operator=(const UnbornRecord&) = delete;

  // This, and all that follows, is safe in a child that shares its parent's memory.
  BERTH_UNSANITIZED void set_shim(const ProcessIdentity& shim);
  /// The clock just before the job's process is made.
  BERTH_UNSANITIZED void born_after(std::uint64_t first_tick);
  /// Completes the line.
  BERTH_UNSANITIZED void seal(pid_t job, std::uint64_t last_tick);
  const char* data() const { return start_; }
  std::size_t size() const { return size_; }

 private:
  std::string text_;
  char* start_;
  std::size_t size_;
  char* job_;   // where its identity goes
  char* shim_;  // likewise
};

/// The first line of `text`; nothing if it is torn or belongs to another attempt.
std::optional<AttemptRecord> parse_attempt_record(std::string_view text, const AttemptName& name);

/// The step of a start that failed, for a message that a user can act on.
enum class StartStep { None, Fork, Record, User, Directory, Output, ErrorOutput, Command, Device };

struct EndRecord {
  int code = 0;
  int signal = 0;
  int start_error = 0;  // errno, when the command could not be started
  StartStep start_step = StartStep::None;
  std::int64_t ended_at = 0;  // nanoseconds since 1970

  friend bool operator==(const EndRecord&, const EndRecord&) = default;
};

/// The line that records an end, made without the library, because a shim that touches little
/// memory costs little. All end lines of an attempt have the same size.
class EndLine {
 public:
  /// `name` as record_name() gives it.
  BERTH_UNSANITIZED EndLine(std::string_view name, const EndRecord& record);
  const char* data() const { return text_; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kCapacity = 224;
  char text_[kCapacity];
  std::size_t size_ = 0;
};

/// The end in `text`; nothing if it is torn or belongs to another attempt.
std::optional<EndRecord> parse_end_record(std::string_view text, const AttemptName& name);

}  // namespace berth
