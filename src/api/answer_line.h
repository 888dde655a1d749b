// AnswerLine: the requests of one connection that have not been answered in full. Answers may come
// in any order but leave in the order of the requests: the first in line writes to the output, and
// the others keep their text until they are first. The line knows neither sockets nor budgets.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "api/http_server.h"
#include "api/output_buffer.h"

namespace berth {

class AnswerLine {
 public:
  /// How many requests may wait for their answers.
  static constexpr std::size_t kLongest = 4096;
  /// The same for requests that read: their answers may be large, and may all be ready at once.
  static constexpr std::size_t kMostReads = 8;

  struct Request {
    bool head_only = false;  // HEAD: no body
    bool keep_alive = true;  // false: its answer is the last
    bool reads = false;      // GET
    bool gzip = false;       // its answer may be packed
    std::size_t body_bytes = 0;
  };

  /// `output` and `limits` outlive the line.
  AnswerLine(OutputBuffer& output, const HttpServer::Limits& limits)
      : output_(output), limits_(limits) {}

  /// Returns the request's number. No number is used twice.
  std::uint64_t add(const Request& request);
  /// Whether the request has neither an answer nor a stream yet.
  bool waits(std::uint64_t number) const { return is(number, State::Waiting); }
  bool streams(std::uint64_t number) const { return is(number, State::Streaming); }
  /// Whether a waiting request is a HEAD.
  bool is_head_only(std::uint64_t number) const { return at(number).head_only; }

  // answer(), answer_last() and start_stream() need a request that waits, the others need one that
  // streams. They return true when the connection's last answer is in the output; the requests
  // behind it have been dropped then.
  [[nodiscard]] bool answer(std::uint64_t number, const HttpResponse& response);
  [[nodiscard]] bool answer_last(std::uint64_t number, const HttpResponse& response);
  /// A stream is always the last answer, because nothing marks its end. For a HEAD it ends at once.
  [[nodiscard]] bool start_stream(std::uint64_t number);
  void add_event(std::uint64_t number, std::uint64_t id, std::string_view event,
                 std::string_view data);
  [[nodiscard]] bool end_stream(std::uint64_t number);

  bool empty() const { return places_.empty(); }
  /// Whether the first in line is a stream.
  bool is_streaming() const {
    return !places_.empty() && places_.front().state == State::Streaming;
  }
  /// Whether so much waits, here or in the output, that no more requests should be taken for now.
  bool is_congested() const {
    return places_.size() >= kLongest || reads_ >= kMostReads || body_bytes_ > limits_.body_bytes ||
           output_.unsent() + ready_bytes_ > limits_.unsent_bytes;
  }
  /// Bytes of the bodies of waiting requests.
  std::size_t body_bytes() const { return body_bytes_; }
  /// Bytes of answers and events that have not been sent, here and in the output.
  std::size_t unread() const;

  /// Drops all requests because the connection ends; answers to them are ignored. Their bytes stay
  /// counted until the connection is closed.
  void clear();

 private:
  enum class State : std::uint8_t { Waiting, Ready, Streaming };
  struct Place {
    bool head_only = false;
    bool keep_alive = true;
    bool reads = false;
    bool gzip = false;
    State state = State::Waiting;
    std::size_t body_bytes = 0;
    std::string output;  // used only while others are in front
  };

  bool is(std::uint64_t number, State state) const {
    return number >= first_ && number - first_ < places_.size() && at(number).state == state;
  }
  const Place& at(std::uint64_t number) const { return places_[number - first_]; }
  Place& at(std::uint64_t number) { return places_[number - first_]; }
  std::string& output_of(Place& place) {
    return &place == &places_.front() ? output_.text() : place.output;
  }
  bool advance();

  OutputBuffer& output_;
  const HttpServer::Limits& limits_;
  std::deque<Place> places_;
  std::uint64_t first_ = 0;      // the number of places_.front()
  std::size_t reads_ = 0;        // in the line
  std::size_t body_bytes_ = 0;   // of waiting requests
  std::size_t ready_bytes_ = 0;  // answers that wait for those in front
};

}  // namespace berth
