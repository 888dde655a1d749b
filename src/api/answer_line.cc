#include "api/answer_line.h"

#include <optional>
#include <utility>
#include <vector>

#include "api/gzip.h"
#include "api/http_text.h"

namespace berth {

std::uint64_t AnswerLine::add(const Request& request) {
  Place& place = places_.emplace_back();
  place.head_only = request.head_only;
  place.keep_alive = request.keep_alive;
  place.reads = request.reads;
  place.gzip = request.gzip;
  place.body_bytes = request.body_bytes;
  reads_ += request.reads ? 1 : 0;
  body_bytes_ += request.body_bytes;
  return first_ + places_.size() - 1;
}

namespace {

/// What goes over the wire instead of the body; nothing where that goes as it is.
std::optional<std::string> packed_body(const HttpResponse& response) {
  const std::size_t size = response.body.size();
  if (response.type != "application/json" || size < kShortestPacked || size > kLongestPacked) {
    return std::nullopt;
  }
  std::string packed = gzip(response.body);
  return packed.empty() ? std::nullopt : std::optional(std::move(packed));
}

}  // namespace

bool AnswerLine::answer(std::uint64_t number, const HttpResponse& response) {
  Place& place = at(number);
  body_bytes_ -= place.body_bytes;
  place.state = State::Ready;
  std::string& out = output_of(place);
  const bool has_body = response.status != 204 && response.status != 304;
  const std::optional<std::string> packed =
      has_body && place.gzip ? packed_body(response) : std::nullopt;
  std::vector<std::pair<std::string, std::string>> headers = response.headers;
  if (packed) {
    headers.emplace_back("Content-Encoding", "gzip");
    headers.emplace_back("Vary", "Accept-Encoding");
  }
  const std::string& body = packed ? *packed : response.body;
  ResponseHead head{response.status, response.type, &headers, std::nullopt, place.keep_alive};
  if (has_body) {
    head.length = body.size();
  }
  append_head(out, head);
  if (has_body && !place.head_only) {
    out += body;
  }
  ready_bytes_ += place.output.size();
  return advance();
}

bool AnswerLine::answer_last(std::uint64_t number, const HttpResponse& response) {
  at(number).keep_alive = false;
  return answer(number, response);
}

bool AnswerLine::start_stream(std::uint64_t number) {
  Place& place = at(number);
  body_bytes_ -= place.body_bytes;
  place.state = place.head_only ? State::Ready : State::Streaming;
  place.keep_alive = false;
  append_head(output_of(place), {200, "text/event-stream", nullptr, std::nullopt, false});
  ready_bytes_ += place.state == State::Ready ? place.output.size() : 0;
  return advance();
}

void AnswerLine::add_event(std::uint64_t number, std::uint64_t id, std::string_view event,
                           std::string_view data) {
  append_event(output_of(at(number)), id, event, data);
}

bool AnswerLine::end_stream(std::uint64_t number) {
  Place& place = at(number);
  place.state = State::Ready;
  ready_bytes_ += place.output.size();
  return advance();
}

std::size_t AnswerLine::unread() const {
  // A stream behind others is the last in the line; in front it writes to the output.
  const bool parked = places_.size() > 1 && places_.back().state == State::Streaming;
  return output_.unsent() + ready_bytes_ + (parked ? places_.back().output.size() : 0);
}

void AnswerLine::clear() {
  first_ += places_.size();
  places_.clear();
}

bool AnswerLine::advance() {
  while (!places_.empty() && places_.front().state == State::Ready) {
    const bool last = !places_.front().keep_alive;
    reads_ -= places_.front().reads ? 1 : 0;
    places_.pop_front();
    ++first_;
    if (last) {
      clear();
      return true;
    }
    if (!places_.empty()) {
      Place& place = places_.front();
      ready_bytes_ -= place.state == State::Ready ? place.output.size() : 0;
      output_.text() += place.output;
      place.output = {};
    }
  }
  return false;
}

}  // namespace berth
