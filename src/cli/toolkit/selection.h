// Selection: the words by which commands name jobs, and asking the daemon about them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/json.h"

namespace berth {

class Selection {
 public:
  /// Declares JOBS…, at least `least` words of them.
  void declare(Args& args, std::size_t least);
  /// "select=…&select=…".
  std::string query() const;
  bool empty() const { return words_.empty(); }
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::vector<std::string> tidy_words() const;

  std::vector<std::string> words_;
};

/// The daemon's answer, as JSON.
Result<Json> ask_json(std::string_view method, const std::string& target,
                      std::string_view body = {}, bool start = false,
                      Duration patience = std::chrono::seconds(60));

/// Every job that is chosen, page after page, at most `limit` (0: all); `more` says whether some
/// were left out.
Result<Json> list_jobs(const Selection& selection, bool all, std::int64_t limit, bool& more);

/// A field as text; empty where it is absent or null.
std::string field(const Json& object, const char* key);
double number(const Json& object, const char* key);

}  // namespace berth
