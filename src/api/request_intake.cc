#include "api/request_intake.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "api/http_error.h"
#include "api/http_text.h"
#include "api/socket_owner.h"
#include "api/sockets.h"
#include "api/spare_memory.h"

namespace berth {

RequestIntake::RequestIntake(ConnectionHost& host, Budgets::Account& account,
                             const HttpServer::Limits& limits, int socket, Peer peer,
                             std::shared_ptr<const TcpAccess> access)
    : host_(host),
      account_(account),
      socket_(socket),
      peer_(peer),
      access_(std::move(access)),
      local_address_(access_ == nullptr ? "" : local_address(socket)),
      reader_({limits.header_bytes, limits.body_bytes}) {}

RequestIntake::Step RequestIntake::next() {
  std::string_view rest = std::string_view(text_).substr(read_);
  const RequestReader::Step step = reader_.read(rest);
  read_ = text_.size() - rest.size();
  switch (step) {
    case RequestReader::Step::NeedMore:
      return Step::NeedMore;
    case RequestReader::Step::Head:
      return let_in(reader_.head()) ? Step::Head : Step::Refused;
    case RequestReader::Step::Done:
      return Step::Request;
    case RequestReader::Step::Failed:
      break;
  }
  refuse(reader_.status(), std::string(why_unreadable(reader_.status())));
  return Step::Refused;
}

/// Always false, as the result of let_in().
bool RequestIntake::refuse(int status, std::string why) {
  status_ = status;
  why_ = std::move(why);
  return false;
}

bool RequestIntake::let_in(const RequestHead& head) {
  if (access_ != nullptr) {
    const std::variant<Peer, Refusal> verdict = admit(*access_, head, local_address_);
    if (const auto* refusal = std::get_if<Refusal>(&verdict)) {
      host_.refused(account_.who(), refusal->message);
      return refuse(refusal->status, std::string(refusal->message));
    }
    peer_ = std::get<Peer>(verdict);
    if (peer_.uid != kNobody && peer_.uid != account_.who()) {
      if (!host_.make_room(peer_.uid)) {
        return refuse(503, host_.used_up(peer_.uid, Good::Connections));
      }
      account_.move_to(peer_.uid);
    }
    if (peer_.uid == kNobody) {
      reader_.limit_body(kOpenBodyBytes);
      if (head.method == "POST") {
        peer_.process = owner_of_other_end(socket_).value_or(kNobody);
      }
    }
  }
  if (account_.who() != Budgets::kStrangers) {
    // More than the whole budget will not fit later either. Some has come that is not read yet.
    const std::size_t most = account_.limit(Good::RequestBytes);
    reader_.limit_body(most - std::min(most, 2 * kReadBytes));
  }
  return true;
}

std::optional<RequestIntake::Taken> RequestIntake::take() {
  RequestHead& head = reader_.head();
  std::optional<Target> target = parse_target(head.target);
  std::optional<Taken> taken;
  if (target) {
    taken.emplace();
    HttpRequest& request = taken->request;
    request.method = std::move(head.method);
    request.path = std::move(target->path);
    request.query = std::move(target->query);
    request.body = std::move(reader_.body());
    request.last_event_id = std::move(head.last_event_id);
    request.if_none_match = std::move(head.if_none_match);
    request.peer = peer_;
    taken->keep_alive = head.keep_alive;
    taken->accepts_gzip = head.accepts_gzip;
    reader_.reset();
  }
  return taken;
}

void RequestIntake::trim(bool all) {
  text_.erase(0, all ? text_.size() : read_);
  read_ = 0;
  free_if_empty_and_large(text_);
}

void RequestIntake::drop() {
  reader_.reset();
  trim(true);
}

}  // namespace berth
