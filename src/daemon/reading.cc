// Reading requests that queue jobs. Short ones are read at once. Long ones are read by a thread, so
// that they hold up nobody: the loop then only takes in what it made of them.
#include <fmt/format.h>
#include <unistd.h>

#include "base/bounds.h"
#include "daemon/daemon.h"
#include "daemon/replies.h"

namespace berth {

static_assert(HttpServer::Limits().body_bytes == kLongestBody);

void Daemon::submit(Asked asked) {
  const Peer peer = asked.request.peer;
  if (asked.request.body.size() <= kShortBody) {
    return queue_jobs(std::move(asked.reply), parse_submit_request(asked.request.body), peer);
  }
  read_apart(std::move(asked), [this, peer](const std::string& body, const Worker::Turn& turn) {
    // Shared, because a std::function must be copyable.
    const auto wanted =
        std::make_shared<Result<SubmitRequest>>(parse_submit_request(body, turn.patience));
    if (*wanted) {
      (*wanted)->room = turn.room;
    }
    return [this, wanted, peer](Reply reply) {
      queue_jobs(std::move(reply), std::move(*wanted), peer);
    };
  });
}

void Daemon::queue_jobs(Reply reply, Result<SubmitRequest> wanted, const Peer& peer) {
  if (!wanted) {
    return answer(std::move(reply), failed(wanted.error()));
  }
  take_in(std::move(*wanted), peer, std::move(reply));
}

/// `read` is called by the worker, with the body; what it returns by the loop, to answer.
void Daemon::read_apart(Asked asked, std::function<Finish(std::string, const Worker::Turn&)> read) {
  const uid_t user = user_of(asked.request.peer);
  if (user != ::getuid() && ::getuid() != 0) {
    return answer(std::move(asked.reply), failed(jobs_of_others()));
  }
  const auto held = std::make_shared<Asked>(std::move(asked));
  Worker::Task task;
  task.user = user;
  task.bytes = held->request.body.size();
  task.unwanted = [held] { return held->reply == nullptr || held->reply->closed(); };
  task.work = [this, held, read = std::move(read)](const Worker::Turn& turn) {
    Finish finish = read(std::exchange(held->request.body, {}), turn);
    if (turn.patience.over()) {
      finish = [this](Reply reply) {
        answer(std::move(reply),
               failed({ErrorCode::Usage, "it takes too long to read: send it in smaller parts"}));
      };
    }
    loop_.post([held, finish = std::move(finish)] { finish(std::move(held->reply)); });
  };
  if (const Result<void> taken = worker_.run(std::move(task)); !taken) {
    constexpr int kTooManyRequests = 429;
    HttpResponse refusal = failed(taken.error());
    refusal.status = kTooManyRequests;
    answer(std::move(held->reply), std::move(refusal));
  }
}

}  // namespace berth
