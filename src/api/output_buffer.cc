#include "api/output_buffer.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "api/spare_memory.h"

namespace berth {

OutputBuffer::Sent OutputBuffer::send_to(int socket) {
  std::size_t left = kMostAtOnce;
  while (unsent() > 0 && left > 0) {
    const ssize_t put =
        ::send(socket, text_.data() + sent_, std::min(unsent(), left), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put >= 0) {
      sent_ += static_cast<std::size_t>(put);
      left -= static_cast<std::size_t>(put);
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      return Sent::Broken;
    }
  }
  drop_sent();
  return left < kMostAtOnce ? Sent::Some : Sent::Nothing;
}

void OutputBuffer::drop_sent() {
  if (unsent() == 0) {
    text_.clear();
    sent_ = 0;
    free_if_empty_and_large(text_);
  } else if (sent_ > text_.size() / 2) {
    text_.erase(0, sent_);
    sent_ = 0;
  }
}

}  // namespace berth
