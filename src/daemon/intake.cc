#include "daemon/intake.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/failpoint.h"
#include "core/recipe.h"
#include "daemon/output_check.h"
#include "daemon/submission_checks.h"

namespace berth {
namespace {

constexpr Duration kTakenInOneGo = std::chrono::milliseconds(4);
/// Members of an array that are written, and that the scheduler is told of, in one piece.
constexpr std::uint32_t kWrittenAtOnce = 50;
constexpr std::uint32_t kQueuedAtOnce = 200;
constexpr std::uint64_t kDroppedAtOnce = 20;

}  // namespace

struct Intake::Incoming {
  enum class Stage { Check, Write, Queue };

  SubmitRequest wanted;
  uid_t user = 0;
  JobTable::Environment environment;
  Time at{};
  JobId first;
  std::uint64_t count = 0;
  OutputCheck outputs;
  std::vector<JobId> starts;  // the first number of each of the submission's jobs
  Stage stage = Stage::Check;
  std::size_t position = 0;  // of the job that is next at this stage,
  std::uint32_t member = 0;  // and where in its array
  bool awaits_commit = false;
  std::vector<Turns::Reply> replies;  // of the client, and of those who came with the same token

  SubmittedJob& job() { return wanted.jobs[position]; }
  bool over() const { return position == wanted.jobs.size(); }
  JobId id() const { return JobId{starts[position].value + member}; }

  /// The numbers of the present job begin behind those of the one before.
  void number_job() {
    starts.push_back(starts.empty() ? first
                                    : JobId{starts.back().value + wanted.jobs[position - 1].count});
  }
  void next_member(std::uint32_t members) {
    member += members;
    if (member == job().count) {
      ++position;
      member = 0;
    }
  }
  void begin(Stage next) {
    stage = next;
    position = 0;
    member = 0;
  }
};

bool Intake::join(uid_t user, const std::string& token, Turns::Reply& reply) {
  const auto same = std::find_if(under_way_.begin(), under_way_.end(), [&](const auto& intake) {
    return intake->user == user && intake->wanted.token == token;
  });
  if (same == under_way_.end()) {
    return false;
  }
  (*same)->replies.push_back(std::move(reply));
  return true;
}

void Intake::begin(SubmitRequest wanted, uid_t user, Turns::Reply reply) {
  auto intake = std::make_shared<Incoming>();
  intake->wanted = std::move(wanted);
  intake->user = user;
  intake->environment = JobTable::share_environment(intake->wanted.defaults.environment);
  intake->at = desk_.now();
  intake->replies.push_back(std::move(reply));
  under_way_.push_back(intake);
  run(intake);
}

void Intake::run(const Shared& intake) {
  desk_.turns.write_in_pieces(
      [this, intake] {
        const bool more = go_on(*intake);
        if (more && std::exchange(intake->awaits_commit, false)) {
          desk_.turns.after_commit([this, intake] { run(intake); });
          return false;
        }
        if (!more) {
          std::erase(under_way_, intake);
        }
        return more;
      },
      kTakenInOneGo);
}

bool Intake::go_on(Incoming& intake) {
  switch (intake.stage) {
    case Incoming::Stage::Check:
      return check_some(intake);
    case Incoming::Stage::Write:
      return write_some(intake);
    case Incoming::Stage::Queue:
      return queue_some(intake);
  }
  return false;
}

bool Intake::refuse(Incoming& intake, const Error& error) {
  for (Turns::Reply& reply : intake.replies) {
    desk_.answer(std::move(reply), failed(error));
  }
  return false;
}

bool Intake::check_some(Incoming& intake) {
  std::erase_if(intake.replies, [](const Turns::Reply& reply) { return reply->closed(); });
  if (intake.replies.empty()) {
    return false;
  }
  if (!intake.over()) {
    Result<void> checked = JobTable::check(intake.job().description, intake.environment);
    checked = checked ? check_job(desk_, intake.job(), intake.user) : checked;
    checked = checked ? intake.outputs.add(intake.job()) : checked;
    checked = checked ? check_outputs(desk_, intake.job(), intake.user) : checked;
    if (!checked) {
      return refuse(intake, wrong_job(intake.wanted, intake.position, checked.error()));
    }
    intake.count += intake.job().count;
    ++intake.position;
    return true;
  }
  return stage(intake);
}

/// All of them can be taken in: keeps their numbers.
bool Intake::stage(Incoming& intake) {
  intake.first = desk_.store.jobs().next_id();
  if (const Result<void> counted = count_in(desk_, intake.wanted, intake.user, intake.first);
      !counted) {
    return refuse(intake, counted.error());
  }
  if (const Result<void> staged = desk_.store.staged().stage(intake.first, intake.count); !staged) {
    for (std::uint64_t i = 0; i < intake.count; ++i) {
      desk_.fair_use.left(JobId{intake.first.value + i});
    }
    return refuse(intake, staged.error());
  }
  intake.begin(Incoming::Stage::Write);
  return true;
}

bool Intake::write_some(Incoming& intake) {
  std::erase_if(intake.replies, [](const Turns::Reply& reply) { return reply->closed(); });
  if (intake.replies.empty()) {
    drop_staged(intake.first);
    return false;
  }
  desk_.turns.commit_soon();
  if (intake.over()) {
    complete(intake);
    return true;
  }
  SubmittedJob& job = intake.job();
  if (intake.member == 0) {
    follow_earlier(intake.wanted.jobs, intake.position, intake.starts);
    intake.number_job();
    job.description.user = intake.user;
    // Another submission may have come in between.
    if (const Result<void> free = check_outputs(desk_, job, intake.user); !free) {
      drop_staged(intake.first);
      return refuse(intake, wrong_job(intake.wanted, intake.position, free.error()));
    }
    desk_.outputs.claim(intake.id(), job.count, job.description);
  }
  JobDescription description = job.description;
  if (description.array_index) {
    *description.array_index += intake.member;
  }
  const std::uint32_t members = std::min(job.count - intake.member, kWrittenAtOnce);
  if (const Result<void> written = desk_.store.jobs().insert(
          intake.id(), members, std::move(description), intake.environment, intake.at);
      !written) {
    drop_staged(intake.first);
    return refuse(intake, wrong_job(intake.wanted, intake.position, written.error()));
  }
  if (intake.id().value - intake.first.value > intake.count / 2) {
    (void)BERTH_FAILPOINT("daemon.intake_half_written");
  }
  intake.next_member(members);
  return true;
}

/// When this is on disk they are jobs, whatever happens.
void Intake::complete(Incoming& intake) {
  desk_.check(desk_.store.staged().complete(intake.first));
  if (!intake.wanted.token.empty()) {
    const Submission known{intake.first, static_cast<std::uint32_t>(intake.count)};
    desk_.check(desk_.store.jobs().remember_token(intake.user, intake.wanted.token, known));
  }
  intake.awaits_commit = true;
  intake.begin(Incoming::Stage::Queue);
}

/// Jobs that were checked a while ago: one that they follow may have ended since.
bool Intake::queue_some(Incoming& intake) {
  if (intake.over()) {
    desk_.recent.add(intake.user, {intake.first, JobId{intake.first.value + intake.count - 1}},
                     intake.wanted.continues);
    desk_.events.jobs_submitted(intake.first, intake.count);
    const SubmitReply done{intake.first, intake.count, device_order_note(desk_, intake.wanted)};
    for (Turns::Reply& reply : intake.replies) {
      desk_.answer(std::move(reply), json(to_json(done)));
    }
    return false;
  }
  (void)BERTH_FAILPOINT("daemon.intake_queues");
  const SubmittedJob& job = intake.job();
  const JobId id = intake.id();
  const std::uint32_t members = std::min(job.count - intake.member, kQueuedAtOnce);
  JobSpec spec = job.description.spec;
  const Recipe recipe = recipe_of(job.description.project, job.description.command);
  const bool learned = desk_.driver.lengths().estimate(spec, recipe, intake.user);
  const Time at = desk_.now();
  desk_.check(desk_.store.staged().show(id, members, spec.held ? members : 0));
  if (const Result<JobId> taken =
          desk_.driver.scheduler().tell(Submit{spec, id, members, true}, at);
      !taken) {
    desk_.check(Failure(taken.error()));  // its numbers were kept for it
  }
  desk_.driver.memory().jobs_wait(id, members, recipe);
  if (learned) {
    desk_.driver.lengths().jobs_wait(id, members, recipe, intake.user);
  }
  const bool never = std::any_of(spec.after.begin(), spec.after.end(), [&](const auto& after) {
    if (desk_.scheduler().find(after.job) != nullptr) {
      return false;
    }
    const Result<JobPhase> other = desk_.store.jobs().phase(after.job);
    return other && !is_live(*other) && !satisfied(after.when, outcome_of(*other));
  });
  for (std::uint32_t i = 0; never && i < members; ++i) {
    (void)desk_.driver.scheduler().tell(Cancel{JobId{id.value + i}}, at).has_value();
  }
  intake.next_member(members);
  return true;
}

void Intake::drop_staged(JobId first) {
  desk_.turns.write_in_pieces([this, first]() mutable {
    const Staging& staging = desk_.store.staged().all();
    const auto staged = std::find_if(staging.begin(), staging.end(),
                                     [&](const StagedJobs& one) { return one.first == first; });
    if (staged == staging.end()) {
      return false;
    }
    const std::uint64_t count = std::min(staged->count, kDroppedAtOnce);
    desk_.check(desk_.store.staged().drop(first, count));
    for (std::uint64_t i = 0; i < count; ++i) {
      desk_.fair_use.left(JobId{first.value + i});
      desk_.outputs.left(JobId{first.value + i});
    }
    desk_.turns.commit_soon();
    first.value += count;
    return true;
  });
}

}  // namespace berth
