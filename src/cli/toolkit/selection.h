// Selection: the words with which users name jobs, and the request to the daemon for these jobs.
#pragma once

#include <map>
#include <span>
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
  void add(std::string word) { words_.push_back(std::move(word)); }
  /// Chooses the user's newest job if no word was given.
  Result<void> choose_newest_if_empty();
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

/// All selected jobs in order of their numbers, fetched page by page.
Result<std::vector<JobReport>> list_jobs(const Selection& selection, bool all);

/// The jobs with these numbers, as far as they are on record.
Result<std::map<JobId, JobReport>> find_jobs(std::span<const JobId> ids);

/// The first of the selected jobs in some order.
struct OrderedJobs {
  std::vector<JobReport> jobs;
  std::uint64_t count = 0;                      // of all selected jobs
  std::map<std::string, std::uint64_t> states;  // how many of them are in which state
};
struct JobOrdering {
  std::string sort = "queue";  // as GET /v1/jobs/ids takes it
  bool descending = false;
};
/// At most `limit` of them (0: all).
Result<OrderedJobs> list_ordered_jobs(const Selection& selection, bool all,
                                      const JobOrdering& order, std::size_t limit);

}  // namespace berth
