// Walks: reads over many rows of a store, for a caller with other clients to serve. Each call
// visits some rows, by numbers or up to `most`, and continues where `at` stands; false when that
// was all. `visit` must not use the store, except for shared_text(). Handed out by Store.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/result.h"
#include "store/query.h"

namespace berth {

class Backing;

class Walks {
 public:
  explicit Walks(Backing& backing) : backing_(backing) {}

  Result<void> scan(const ScanQuery& query, const std::function<void(const ScannedJob&)>& visit);
  /// Attempts that ended at `ended_from` or later and began at `begun_to` or before, the newest end
  /// first.
  Result<bool> attempts(AttemptCursor& at, Time ended_from, Time begun_to, std::size_t most,
                        const std::function<void(const EndedAttempt&)>& visit);
  /// The phases of jobs that ended at `from` or later.
  Result<bool> ends(EndCursor& at, Time from, std::size_t most,
                    const std::function<void(JobPhase)>& visit);
  /// Each label of each job, equal labels in a row.
  Result<bool> labels(LabelCursor& at, std::size_t most,
                      const std::function<void(std::int64_t label)>& visit);

  /// The text that such a number of a walk stands for.
  Result<std::string> shared_text(std::int64_t id);
  Result<std::pair<std::string, std::string>> label_text(std::int64_t label);

 private:
  Backing& backing_;
};

}  // namespace berth
