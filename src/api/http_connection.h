// HttpConnection: one client of HttpServer. It takes requests from the socket as fast as they come
// and puts them in a line. Answers leave in the order of that line; all that are ready leave in one
// write. Limits apply to the output that the client does not read. Past them, the connection takes
// no more requests and cuts off an event stream.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "api/access.h"
#include "api/http_server.h"
#include "api/loop_native.h"
#include "api/request_reader.h"
#include "base/fd.h"

namespace berth {

class HttpConnection;

/// What a connection needs from its server. The host outlives every connection that is not closed.
class ConnectionHost {
 public:
  virtual void handle(HttpRequest request, std::unique_ptr<Responder> responder) = 0;
  virtual void closed(HttpConnection& connection) = 0;
  virtual Budgets& budgets() = 0;
  /// Whether this user may have one more connection, after closing an idle one where that helps.
  virtual bool make_room(uid_t who) = 0;
  /// Reports a refusal, for HttpServer::OnRefusal.
  virtual void refused(uid_t who, std::string_view what) = 0;
  virtual void refused(uid_t who, Good good) = 0;

 protected:
  ~ConnectionHost() = default;
};

/// What the empty buffers of a connection may keep: there may be thousands of connections.
inline constexpr std::size_t kKeptCapacity = std::size_t{16} * 1024;

/// Shared between the server and the calls that the loop still has to make; responders and streams
/// hold it weakly.
class HttpConnection : public Flushable, public std::enable_shared_from_this<HttpConnection> {
 public:
  using Clock = std::chrono::steady_clock;

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
  bool ended() const { return ended_; }
  bool closed() const { return closed_; }

  /// The user of the connection; Budgets::kStrangers while unknown.
  uid_t who() const { return account_.who(); }
  /// Whether it can be closed to make room for another connection: neither a request nor an answer
  /// is under way, or its user is unknown.
  bool is_dispensable() const;
  /// When something last went in or out.
  Clock::time_point active() const { return active_; }

  /// For responders and streams; `number` is the request's place in the line.
  void respond(std::uint64_t number, const HttpResponse& response);
  bool start_stream(std::uint64_t number);
  bool send_event(std::uint64_t number, std::uint64_t id, std::string_view event,
                  std::string_view data);
  /// How many more bytes can wait for the client of this stream.
  std::size_t stream_room(std::uint64_t number);
  void end_stream(std::uint64_t number);

 private:
  /// A request in the line that has not been answered in full.
  struct Place {
    enum class State { Waiting, Ready, Streaming };
    State state = State::Waiting;
    bool head_only = false;  // HEAD: no body
    bool keep_alive = true;
    bool reads = false;  // GET
    std::size_t body_bytes = 0;
    std::string output;  // used only while others are in front
  };

  void wait_readable();
  void wait_writable();
  void receive();
  void end_of_input();
  void resume();

  void process();
  void take_head(bool more_is_here);
  void take_request();
  void refuse(int status, std::string_view message);
  /// Refuses because the user has used up this budget. Without `who`, it is the connection's own
  /// user.
  void refuse_for(Good good, std::optional<uid_t> who = std::nullopt);
  std::uint64_t add_place(bool head_only, bool keep_alive, std::size_t body_bytes);

  Place* find(std::uint64_t number);
  std::string& output_of(Place& place);
  void write(Place& place, const HttpResponse& response);
  void advance();
  void flush_later();
  bool send_some();
  void finish();
  bool is_streaming() const;
  bool is_congested() const;
  std::size_t unsent() const { return output_.size() - sent_; }
  void restart_clock();
  std::size_t request_bytes() const;
  std::size_t answer_bytes() const;
  void settle_account();

  Loop::Native& loop_;
  ConnectionHost& host_;
  const HttpServer::Limits& limits_;
  boost::asio::posix::stream_descriptor socket_;
  Budgets::Account account_;
  Peer peer_;  // over TCP, of the request that was read last
  const std::shared_ptr<const TcpAccess> access_;
  std::string local_address_;  // over TCP

  std::string input_;  // received but not parsed
  RequestReader reader_;
  std::deque<Place> line_;
  std::uint64_t first_ = 0;      // the number of line_.front()
  std::size_t reads_ = 0;        // in the line
  std::size_t body_bytes_ = 0;   // of requests that wait for their answer
  std::size_t ready_bytes_ = 0;  // answers that wait for those in front
  std::string output_;
  std::size_t sent_ = 0;  // of output_

  Clock::time_point active_;     // when something last went in or out
  Clock::time_point deadline_;   // for the next thing that is due from the client
  Clock::time_point heartbeat_;  // the next
  bool waiting_readable_ = false;
  bool waiting_writable_ = false;
  bool will_flush_ = false;
  bool paused_ = false;       // congested with more input at hand
  bool no_more_ = false;      // no more requests are taken; further input is discarded
  bool ending_ = false;       // the last answer is in output_
  bool drain_first_ = false;  // before closing, because unread input would destroy the answer
  bool draining_ = false;
  bool ended_ = false;  // the client sends no more
  bool closed_ = false;
};

}  // namespace berth
