#include "store/walks.h"

#include "store/backing.h"
#include "store/fields.h"

namespace berth {

Result<void> Walks::scan(const ScanQuery& query,
                         const std::function<void(const ScannedJob&)>& visit) {
  return backing_.reader().scan(query, visit);
}

Result<bool> Walks::attempts(AttemptCursor& at, Time ended_from, Time begun_to, std::size_t most,
                             const std::function<void(const EndedAttempt&)>& visit) {
  return backing_.reader().walk_attempts(at, ended_from, begun_to, most, visit);
}

Result<bool> Walks::ends(EndCursor& at, Time from, std::size_t most,
                         const std::function<void(JobPhase)>& visit) {
  return backing_.reader().walk_ends(at, from, most, visit);
}

Result<bool> Walks::labels(LabelCursor& at, std::size_t most,
                           const std::function<void(std::int64_t label)>& visit) {
  return backing_.reader().walk_labels(at, most, visit);
}

Result<std::string> Walks::shared_text(std::int64_t id) {
  return backing_.reader().shared_text(id);
}

Result<std::pair<std::string, std::string>> Walks::label_text(std::int64_t label) {
  const Result<std::string> content = shared_text(label);
  if (!content) {
    return Failure(content.error());
  }
  std::optional<std::pair<std::string, std::string>> decoded = decode_label(*content);
  if (!decoded) {
    return fail(ErrorCode::Io, "the record of a label is damaged");
  }
  return std::move(*decoded);
}

}  // namespace berth
