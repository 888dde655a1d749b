#include "api/connection_socket.h"

#include <poll.h>
#include <sys/socket.h>

namespace berth {

ConnectionSocket::ConnectionSocket(Loop::Native& loop, Fd socket)
    : loop_(loop), descriptor_(loop.context) {
  Error error;
  descriptor_.assign(socket.get(), error);
  if (!error) {
    (void)socket.release();
  }
}

bool ConnectionSocket::is_hung_up() {
  pollfd state{fd(), 0, 0};
  return ::poll(&state, 1, 0) == 1 && (state.revents & (POLLHUP | POLLERR)) != 0;
}

void ConnectionSocket::end_writing() { ::shutdown(fd(), SHUT_WR); }

void ConnectionSocket::close() {
  Error ignored;
  descriptor_.close(ignored);
}

}  // namespace berth
