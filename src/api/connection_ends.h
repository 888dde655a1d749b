// ConnectionEnds: how far a connection is on its way to being closed. The server's side goes
// through its stages in order and never back. The client may end its own side at any time and read
// on.
#pragma once

#include <algorithm>
#include <cstdint>

namespace berth {

class ConnectionEnds {
 public:
  bool takes_requests() const { return stage_ == Stage::Open; }
  /// Further input is discarded.
  void take_no_more() { go_to(Stage::TakesNoMore); }
  /// Like take_no_more(), for a client that may still be sending. Its input is drained before the
  /// connection is closed, because unread input would destroy the answer.
  void refuse() {
    take_no_more();
    drain_first_ = true;
  }

  /// The last answer is in the output.
  void end() { go_to(Stage::Ending); }
  bool is_ending() const { return stage_ >= Stage::Ending; }

  /// Whether the input must be drained before closing.
  bool must_drain() const { return drain_first_ && !client_ended_; }
  /// False if draining has already begun.
  bool start_draining() { return go_to(Stage::Draining); }
  bool is_draining() const { return stage_ == Stage::Draining; }

  /// False if the connection is already closed.
  bool close() { return go_to(Stage::Closed); }
  bool is_closed() const { return stage_ == Stage::Closed; }

  /// The client sends no more.
  void end_client() { client_ended_ = true; }
  bool client_ended() const { return client_ended_; }

 private:
  enum class Stage : std::uint8_t { Open, TakesNoMore, Ending, Draining, Closed };

  bool go_to(Stage stage) {
    const bool later = stage_ < stage;
    stage_ = std::max(stage_, stage);
    return later;
  }

  Stage stage_ = Stage::Open;
  bool drain_first_ = false;
  bool client_ended_ = false;
};

}  // namespace berth
