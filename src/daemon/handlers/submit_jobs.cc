#include "daemon/handlers/submit_jobs.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/bounds.h"
#include "core/recipe.h"
#include "daemon/output_check.h"
#include "daemon/submission_checks.h"

namespace berth {
namespace {

static_assert(HttpServer::Limits().body_bytes == kLongestBody);

/// What is larger is taken in piece by piece.
constexpr std::size_t kJobsAtOnce = 100;
constexpr std::uint64_t kMembersAtOnce = 500;

bool is_small(const SubmitRequest& wanted) {
  std::uint64_t members = 0;
  for (const SubmittedJob& job : wanted.jobs) {
    members += job.count;
  }
  return wanted.jobs.size() <= kJobsAtOnce && members <= kMembersAtOnce;
}

Error jobs_of_others() {
  return {ErrorCode::Refused, "this daemon can run jobs of its own user only"};
}

bool may_submit(uid_t user) { return user == ::getuid() || ::getuid() == 0; }

}  // namespace

void SubmitJobs::handle(RoutedRequest asked) {
  const Peer peer = asked.request.peer;
  if (asked.request.body.size() <= kShortBody) {
    return queue(std::move(asked.reply), parse_submit_request(asked.request.body), peer);
  }
  read_apart(std::move(asked), [this, peer](const std::string& body, const Worker::Turn& turn) {
    // Shared, because a std::function must be copyable.
    const auto wanted =
        std::make_shared<Result<SubmitRequest>>(parse_submit_request(body, turn.patience));
    if (*wanted) {
      (*wanted)->room = turn.room;
    }
    return [this, wanted, peer](Turns::Reply reply) {
      queue(std::move(reply), std::move(*wanted), peer);
    };
  });
}

void SubmitJobs::queue(Turns::Reply reply, Result<SubmitRequest> wanted, const Peer& peer) {
  if (!wanted) {
    return desk_.answer(std::move(reply), failed(wanted.error()));
  }
  take_in(std::move(*wanted), peer, std::move(reply));
}

void SubmitJobs::read_apart(RoutedRequest asked, Read read) {
  const uid_t user = asked.request.peer.uid;
  if (!may_submit(user)) {
    return desk_.answer(std::move(asked.reply), failed(jobs_of_others()));
  }
  const auto held = std::make_shared<RoutedRequest>(std::move(asked));
  Worker::Task task;
  task.user = user;
  task.bytes = held->request.body.size();
  task.unwanted = [held] { return held->reply == nullptr || held->reply->closed(); };
  task.work = [this, held, read = std::move(read)](const Worker::Turn& turn) {
    Finish finish = read(std::exchange(held->request.body, {}), turn);
    if (turn.patience.over()) {
      finish = [this](Turns::Reply reply) {
        desk_.answer(
            std::move(reply),
            failed({ErrorCode::Usage, "it takes too long to read: send it in smaller parts"}));
      };
    }
    loop_.post([held, finish = std::move(finish)] { finish(std::move(held->reply)); });
  };
  if (const Result<void> taken = worker_.run(std::move(task)); !taken) {
    constexpr int kTooManyRequests = 429;
    HttpResponse refusal = failed(taken.error());
    refusal.status = kTooManyRequests;
    desk_.answer(std::move(held->reply), std::move(refusal));
  }
}

void SubmitJobs::take_in(SubmitRequest wanted, const Peer& peer, Turns::Reply reply) {
  const uid_t user = peer.uid;
  if (!may_submit(user)) {
    return desk_.answer(std::move(reply), failed(jobs_of_others()));
  }
  if (!wanted.token.empty()) {
    const auto before = desk_.store.jobs().find_token(user, wanted.token);
    if (!before) {
      return desk_.answer(std::move(reply), failed(before.error()));
    }
    if (*before) {
      return desk_.answer(std::move(reply),
                          json(to_json(SubmitReply{(*before)->first, (*before)->count})));
    }
    if (intake_.join(user, wanted.token, reply)) {
      return;
    }
  }
  if (wanted.environment_from) {
    if (const Result<void> settled = settle_environment(desk_, wanted, peer); !settled) {
      return desk_.answer(std::move(reply), failed(settled.error()));
    }
  }
  if (is_small(wanted)) {
    return desk_.answer(std::move(reply), take_in_now(wanted, user));
  }
  intake_.begin(std::move(wanted), user, std::move(reply));
}

HttpResponse SubmitJobs::take_in_now(SubmitRequest& wanted, uid_t user) {
  // All or nothing: every job is looked at before the first is taken.
  const auto environment = JobTable::share_environment(wanted.defaults.environment);
  OutputCheck outputs;
  for (std::size_t i = 0; i < wanted.jobs.size(); ++i) {
    Result<void> checked = JobTable::check(wanted.jobs[i].description, environment);
    checked = checked ? check_job(desk_, wanted.jobs[i], user) : checked;
    checked = checked ? outputs.add(wanted.jobs[i]) : checked;
    checked = checked ? check_outputs(desk_, wanted.jobs[i], user) : checked;
    if (!checked) {
      return failed(wrong_job(wanted, i, checked.error()));
    }
  }
  const JobId first = desk_.store.jobs().next_id();
  if (const Result<void> counted = count_in(desk_, wanted, user, first); !counted) {
    return failed(counted.error());
  }
  const Time at = desk_.now();
  JobId id = first;
  std::vector<JobId> starts;  // the first number of each of the submission's jobs
  for (std::size_t i = 0; i < wanted.jobs.size(); ++i) {
    SubmittedJob& job = wanted.jobs[i];
    follow_earlier(wanted.jobs, i, starts);
    JobDescription& description = job.description;
    description.user = user;
    desk_.outputs.claim(id, job.count, description);
    JobSpec spec = description.spec;
    const Recipe recipe = recipe_of(description.project, description.command);
    const bool learned = desk_.driver.lengths().estimate(spec, recipe, user);
    desk_.check(desk_.store.jobs().insert(id, job.count, std::move(description), environment, at));
    const Result<JobId> taken = desk_.driver.scheduler().tell(Submit{spec, id, job.count}, at);
    if (!taken) {
      desk_.check(Failure(taken.error()));  // it was checked before
    }
    desk_.driver.memory().jobs_wait(id, job.count, recipe);
    if (learned) {
      desk_.driver.lengths().jobs_wait(id, job.count, recipe, user);
    }
    starts.push_back(id);
    id.value += job.count;
  }
  const auto count = static_cast<std::uint32_t>(id.value - first.value);
  if (!wanted.token.empty()) {
    desk_.check(desk_.store.jobs().remember_token(user, wanted.token, Submission{first, count}));
  }
  desk_.recent.add(user, {first, JobId{id.value - 1}}, wanted.continues);
  desk_.events.jobs_submitted(first, count);
  return json(to_json(SubmitReply{first, count, device_order_note(desk_, wanted)}));
}

}  // namespace berth
