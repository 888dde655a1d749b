// Job lines: how users tell `berth run` and `berth submit --file` what to run. Each line is one
// job. Words `@key=value` before the command are its options. `<<WORD` in place of a command takes
// the following lines up to a line that is WORD. Blank lines and lines that start with # are
// skipped. In NUL-separated input, a job is everything up to the next NUL byte.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounds.h"
#include "spec/line_options.h"

namespace berth {

/// A job as a line describes it: its command and its options.
struct JobLine {
  std::size_t line = 0;  // where it starts, from 1; 0: no line
  std::string command;
  LineOptions options;
};

/// Reads a whole text as one job, over any number of lines: options, then the command.
Result<JobLine> read_job(std::string_view text);

/// Where an input is wrong, for a message that names the place.
struct LineError {
  std::size_t line = 0;
  std::string message;
  std::size_t column = 1;  // in characters
};

/// Cuts a byte stream into jobs as the bytes arrive. Wrong lines are reported and skipped; an
/// endless line is not kept in memory.
class JobReader {
 public:
  enum class Separator { Newline, Nul };

  explicit JobReader(Separator separator) : separator_(separator) {}

  void feed(std::string_view bytes);
  void finish() { finished_ = true; }

  /// The next job that has arrived completely; nothing when more bytes are needed or all are read.
  std::optional<tl::expected<JobLine, LineError>> next();

 private:
  using Item = tl::expected<JobLine, LineError>;

  std::optional<std::string_view> next_record();
  std::optional<Item> parse(std::string_view record);
  std::optional<Item> add_to_block(std::string_view record);
  Item wrong(std::size_t line, std::string message);

  /// A `<<WORD` block that has not been closed yet.
  struct Block {
    std::string end;
    JobLine job;
    std::size_t size = 0;
    bool dropped = false;  // one of its lines was wrong, and has been reported
  };

  Separator separator_;
  std::string buffer_;
  std::size_t at_ = 0;        // of the first byte not consumed
  std::size_t searched_ = 0;  // no separator before here
  std::size_t line_ = 0;      // of the last record
  bool finished_ = false;
  bool too_long_ = false;  // the rest of an overlong record is being dropped
  std::optional<Block> block_;
};

/// Offset of the first byte that is not UTF-8, or npos.
std::size_t find_invalid_utf8(std::string_view text);

}  // namespace berth
