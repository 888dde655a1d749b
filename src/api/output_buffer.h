// OutputBuffer: the bytes that wait until a socket takes them.
#pragma once

#include <string>

namespace berth {

class OutputBuffer {
 public:
  /// One connection's share of a batch: other connections wait meanwhile.
  static constexpr std::size_t kMostAtOnce = std::size_t{1024} * 1024;

  enum class Sent { Nothing, Some, Broken };

  /// Callers may only append to it.
  std::string& text() { return text_; }
  std::size_t unsent() const { return text_.size() - sent_; }

  /// Sends what the socket takes without waiting, up to kMostAtOnce bytes. Broken means that the
  /// client cannot be reached any more.
  Sent send_to(int socket);

 private:
  void drop_sent();

  std::string text_;
  std::size_t sent_ = 0;  // of text_
};

}  // namespace berth
