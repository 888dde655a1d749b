// The folder of attempts as the daemon reads it (attempt_record.h says what is in it), and the
// verdict on one attempt: who of it still lives.
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
    JobLives,   // without its shim; `process` is the job. How it ends nobody will know
    Gone,       // nobody knows how it ended
  } kind = Kind::Absent;
  EndRecord end;
  Fd process;
  std::optional<AttemptRecord> record;  // of this boot, or none
};

class AttemptFolder {
 public:
  /// Makes the folder where it is missing.
  static Result<AttemptFolder> open(std::string path, std::string boot_id);

  int fd() const { return directory_.get(); }
  /// It was not there when it was opened.
  bool is_new() const { return new_; }
  /// Somebody has removed it, and nothing can be made in it any more.
  bool is_deleted() const;
  /// In its place; what was in it is gone. Its descriptor is another one then.
  Result<void> make_again();
  const std::string& boot_id() const { return boot_id_; }

  bool has(const AttemptName& name) const;
  /// All attempts with a file, in order.
  std::vector<AttemptName> list() const;
  /// To be asked when the shim is gone. Nothing where it left no whole record.
  std::optional<EndRecord> read_end(const AttemptName& name) const;
  Verdict judge(const AttemptName& name) const;
  /// Ends what is left of an attempt whose shim is gone: all that still hold its lock, and below.
  void signal_holders(const AttemptName& name, int signal) const;
  /// Nobody needs the attempt's file any more. It stays for a while, for take_spare().
  void give_up(const AttemptName& name);
  /// A file that was given up, for a shim to use again; empty where there is none.
  std::string take_spare();
  void remove_spares();

 private:
  AttemptFolder() = default;
  Result<void> open_directory();
  /// Nothing, and errno, where it cannot be opened.
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
