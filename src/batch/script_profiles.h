// ScriptProfiles: which scripts of a batch file need a short run first, because nobody knows how
// much memory they use, and what came of those runs.
#pragma once

#include <map>
#include <set>
#include <string>

#include "core/claim_book.h"
#include "memory/peak_file.h"

namespace berth {

class ScriptProfiles {
 public:
  /// `peaks` is the file of what jobs have used; `profiled` are the scripts that have had a
  /// profile, by fingerprint, with what it saw.
  ScriptProfiles(const std::string& peaks, const std::map<std::string, Bytes>& profiled);
  ScriptProfiles(const ScriptProfiles&) = delete;
  ScriptProfiles& operator=(const ScriptProfiles&) = delete;

  /// Learns what jobs have used since the last call.
  void read_peaks() { peaks_.read(); }

  /// Whether nobody knows what the script uses, and no profile of it goes on.
  bool is_wanted(const std::string& script) const;
  bool goes_on(const std::string& script) const { return running_.contains(script); }
  /// How the script's profile failed in this batch; null: it did not.
  const std::string* failure(const std::string& script) const;

  void begin(const std::string& script) { running_.insert(script); }
  void succeeded(const std::string& script);
  void failed(const std::string& script, std::string reason);
  /// A profile that failed may be tried again in the next batch.
  void forget_failures() { failures_.clear(); }

 private:
  ClaimBook book_;
  PeakFile peaks_;                               // tells book_
  std::set<std::string> running_;                // scripts
  std::set<std::string> done_;                   // by fingerprint, whatever that has taught
  std::map<std::string, std::string> failures_;  // reasons by script
};

}  // namespace berth
