// ConnectionSocket: the socket of one client, and the waits for it in the loop.
#pragma once

#include <utility>

#include "api/loop_native.h"
#include "base/fd.h"

namespace berth {

class ConnectionSocket {
 public:
  ConnectionSocket(Loop::Native& loop, Fd socket);

  int fd() { return descriptor_.native_handle(); }

  /// Makes one call when there is something to read. Returns false if it is already waiting. `call`
  /// must keep this object alive; it is dropped without being called when the socket is closed.
  template <class Call>
  bool wait_readable(Call call) {
    if (std::exchange(waits_readable_, true)) {
      return false;
    }
    descriptor_.async_wait(Descriptor::wait_read, [this, call = std::move(call)](Error error) {
      loop_.woken();
      waits_readable_ = false;
      if (!error) {
        call();
      }
    });
    return true;
  }
  /// The same for when the socket takes more output.
  template <class Call>
  bool wait_writable(Call call) {
    if (std::exchange(waits_writable_, true)) {
      return false;
    }
    descriptor_.async_wait(Descriptor::wait_write, [this, call = std::move(call)](Error error) {
      waits_writable_ = false;
      if (!error) {
        call();
      }
    });
    return true;
  }
  bool waits_writable() const { return waits_writable_; }

  /// Whether the client has closed its socket, rather than only ended its side.
  bool is_hung_up();
  /// Tells the client that nothing more will be sent.
  void end_writing();
  void close();

 private:
  using Descriptor = boost::asio::posix::stream_descriptor;
  using Error = boost::system::error_code;

  Loop::Native& loop_;
  Descriptor descriptor_;
  bool waits_readable_ = false;
  bool waits_writable_ = false;
};

}  // namespace berth
