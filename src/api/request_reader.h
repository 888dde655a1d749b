// RequestReader: bytes in, HTTP/1.x requests out. It knows the grammar and the limits, but neither
// sockets nor the meaning of a request. This header hides Beast.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace berth {

/// The part of a request before its body, as far as the server needs it. Absent fields are "".
struct RequestHead {
  std::string method;
  std::string target;  // as sent
  std::string host;
  std::string origin;
  std::string authorization;
  std::string last_event_id;
  std::string if_none_match;
  bool accepts_gzip = false;
  bool has_origin = false;  // an empty Origin counts, too
  bool keep_alive = true;
  bool expects_continue = false;
};

class RequestReader {
 public:
  struct Limits {
    std::size_t header_bytes;
    std::size_t body_bytes;
  };

  enum class Step {
    NeedMore,  // more than the input holds
    Head,      // head() is complete: look at it before its body is read
    Done,      // body() is complete, too; reset() before the next request
    Failed,    // status() says why; nothing can follow
  };

  explicit RequestReader(Limits limits);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  /// Takes what it uses from the front of `input`. The caller passes the rest again, with more
  /// behind it.
  Step read(std::string_view& input);

  /// Limits the body of this request alone. Call it after looking at the head.
  void limit_body(std::size_t bytes);

  RequestHead& head();
  std::string& body();
  std::size_t body_size() const;
  /// 400, 413 or 431.
  int status() const;
  /// Whether a part of a request has been read.
  bool started() const;
  void reset();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth
