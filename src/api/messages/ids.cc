#include "api/messages/ids.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "api/messages/fields.h"

namespace berth {

template <class Io>
void fields(Io& io, In<Io, IdsReply>& reply) {
  io.version();
  io.required("count", reply.count);
  io.required("runs", reply.runs);
  io.field("states", reply.states);
}

std::vector<JobId> IdsReply::first(std::size_t most) const {
  std::vector<JobId> ids;
  for (const std::vector<std::int64_t>& run : runs) {
    for (std::int64_t i = 0; i < run[1]; ++i) {
      if (most != 0 && ids.size() == most) {
        return ids;
      }
      ids.push_back(JobId{static_cast<std::uint64_t>(run[0] + i * run[2])});
    }
  }
  return ids;
}

Result<IdsReply> parse_ids_reply(std::string_view json) {
  Result<IdsReply> reply = read_message<IdsReply>(json);
  if (reply && std::any_of(reply->runs.begin(), reply->runs.end(),
                           [](const auto& run) { return run.size() != 3; })) {
    return fail(ErrorCode::Unavailable,
                "the daemon's answer makes no sense: a run has three parts");
  }
  return reply;
}

void IdsReplyWriter::add(JobId id) {
  ++size_;
  // Numbers wrap around as they should: what differs by one does so in either direction.
  const auto step = static_cast<std::int64_t>(
      id.value - (first_ + (length_ - 1) * static_cast<std::uint64_t>(step_)));
  if (length_ > 0 && (step == 1 || step == -1) && (length_ == 1 || step == step_)) {
    step_ = step;
    ++length_;
    return;
  }
  close_run();
  first_ = id.value;
  length_ = 1;
  step_ = 0;
}

void IdsReplyWriter::close_run() {
  if (length_ > 0) {
    fmt::format_to(std::back_inserter(text_), "{}[{},{},{}]", empty_ ? "" : ",", first_, length_,
                   step_);
    empty_ = false;
  }
}

std::string IdsReplyWriter::take(const std::map<std::string_view, std::uint64_t>& states) {
  close_run();
  std::uint64_t count = 0;
  for (const auto& [state, jobs] : states) {
    count += jobs;
  }
  fmt::format_to(std::back_inserter(text_), R"(],"count":{},"states":{{)", count);
  const char* between = "";
  for (const auto& [state, jobs] : states) {
    fmt::format_to(std::back_inserter(text_), R"({}"{}":{})", between, state, jobs);
    between = ",";
  }
  text_ += "}}";
  return std::move(text_);
}

}  // namespace berth
