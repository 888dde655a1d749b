// HttpConnection: one client of HttpServer. It takes requests from the socket as fast as they come
// and puts them in a line. Answers leave in the order of that line; all that are ready leave in one
// write. Limits apply to the output that the client does not read. Past them, the connection takes
// no more requests and cuts off an event stream. This class ties the parts of a connection
// together; each part has a header of its own.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "api/answer_line.h"
#include "api/budgets.h"
#include "api/connection_clock.h"
#include "api/connection_ends.h"
#include "api/connection_host.h"
#include "api/connection_socket.h"
#include "api/output_buffer.h"
#include "api/request_intake.h"

namespace berth {

/// Shared between the server and the calls that the loop still has to make; responders and streams
/// hold it weakly.
class HttpConnection : public Flushable, public std::enable_shared_from_this<HttpConnection> {
 public:
  using Clock = ConnectionClock::Clock;

  /// `access` is null on a Unix socket, whose file mode decides who may connect.
  HttpConnection(Loop::Native& loop, ConnectionHost& host, const HttpServer::Limits& limits,
                 Fd socket, Peer peer, std::shared_ptr<const TcpAccess> access);

  void start();
  /// Called instead of start(): reads no requests, answers why, and ends the connection.
  void turn_away(std::string_view why);
  void flush() override;
  /// Called now and then, for heartbeats and time-outs.
  void tick(Clock::time_point now);
  void close();
  const ConnectionEnds& ends() const { return ends_; }

  /// The user of the connection; Budgets::kStrangers while unknown.
  uid_t who() const { return account_.who(); }
  /// When something last went in or out, if the connection can be closed to make room for another:
  /// neither a request nor an answer is under way, or its user is unknown. Otherwise nullopt.
  std::optional<Clock::time_point> dispensable_since() const;

  /// For responders and streams; `number` is the request's place in the line.
  void respond(std::uint64_t number, const HttpResponse& response);
  bool start_stream(std::uint64_t number);
  bool send_event(std::uint64_t number, std::uint64_t id, std::string_view event,
                  std::string_view data);
  /// How many more bytes can wait for the client of this stream.
  std::size_t stream_room(std::uint64_t number);
  void end_stream(std::uint64_t number);

 private:
  void wait_readable();
  void receive();
  void process();
  void resume();
  void take_request();
  void refuse(int status, std::string_view message);

  void answered(bool last);
  void flush_later();
  void finish();
  void settle_account();

  Loop::Native& loop_;
  ConnectionHost& host_;
  const HttpServer::Limits& limits_;
  Budgets::Account account_;
  ConnectionSocket socket_;
  RequestIntake intake_;
  OutputBuffer output_;
  AnswerLine line_;
  ConnectionClock clock_;
  ConnectionEnds ends_;
  bool will_flush_ = false;
  bool paused_ = false;  // congested with more input at hand
};

}  // namespace berth
