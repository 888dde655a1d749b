// The folder of attempts as the daemon reads it (attempt_record.h says what is in it), and the
// verdict on one attempt: which of its processes still live.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "exec/attempt_record.h"

namespace berth {

struct Verdict {
  enum class Kind {
    Absent,     // there is no such attempt
    Unknown,    // the folder cannot be read now, for want of descriptors or memory
    ShimLives,  // `process` is the shim
    Ended,      // `end` tells how
    JobLives,   // without its shim; `process` is the job. Its end will stay unknown
    Gone,       // it has ended, in an unknown way
  } kind = Kind::Absent;
  EndRecord end;
  Fd process;
  std::optional<AttemptRecord> record;  // of this boot, or none
};

class AttemptFolder {
 public:
  /// Makes the folder if it is missing.
  static Result<AttemptFolder> open(std::string path, std::string boot_id);

  int fd() const { return directory_.get(); }
  /// The folder did not exist when it was opened.
  bool is_new() const { return new_; }
  /// The folder was removed, and nothing can be made in it any more.
  bool is_deleted() const;
  /// Makes the folder again in its place. Its contents are gone, and its descriptor changes.
  Result<void> make_again();
  const std::string& boot_id() const { return boot_id_; }

  bool has(const AttemptName& name) const;
  /// All attempts with a file, in order.
  std::vector<AttemptName> list() const;
  /// Call it when the shim is gone. Nothing if the shim left no complete record.
  std::optional<EndRecord> read_end(const AttemptName& name) const;
  Verdict judge(const AttemptName& name) const;
  /// Signals what is left of an attempt whose shim is gone: all processes that still hold its lock,
  /// and their descendants.
  void signal_holders(const AttemptName& name, int signal) const;
  /// Call it when the attempt's file is no longer needed. The file stays for a while, for
  /// take_spare().
  void give_up(const AttemptName& name);
  /// A file that was given up, for a shim to use again; empty if there is none.
  std::string take_spare();
  void remove_spares();

 private:
  AttemptFolder() = default;
  Result<void> open_directory();
  /// Nothing, and errno, if it cannot be opened.
  std::optional<std::string> read(const std::string& file) const;
  bool exists(const std::string& file) const;
  bool locked(const AttemptName& name) const;
  std::string path(const AttemptName& name) const;

  std::string path_;
  std::string boot_id_;
  bool new_ = false;
  std::vector<std::string> spares_;
  Fd directory_;
};

}  // namespace berth
