// Selection: the words with which users name jobs, and the request to the daemon for these jobs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/messages/job.h"
#include "base/result.h"
#include "cli/toolkit/args.h"

namespace berth {

class Selection {
 public:
  /// Declares JOBS…, at least `least` words of them.
  void declare(Args& args, std::size_t least);
  /// "select=…&select=…".
  std::string query() const;
  bool empty() const { return words_.empty(); }
  const std::vector<std::string>& words() const { return words_; }
  /// Every job is named by a number of its own.
  bool one_by_one() const;

 private:
  std::vector<std::string> tidy_words() const;

  std::vector<std::string> words_;
};

/// Asks on a terminal before a command ("kill") changes several jobs that were not named one by
/// one. `among` narrows the choice as the command will: "state=live". False when the user declines.
Result<bool> confirm(std::string_view verb, const Selection& selection, std::string_view among);

/// All selected jobs, fetched page by page, at most `limit` (0: all). `more` tells whether some
/// were omitted.
Result<std::vector<JobReport>> list_jobs(const Selection& selection, bool all, std::int64_t limit,
                                         bool& more);

}  // namespace berth
