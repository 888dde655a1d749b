// Taking in a submission of very many jobs, piece by piece, so that others are served meanwhile.
//
// All or nothing: every job is looked at first; then all are written to the store, where nobody
// sees them (store/staged.h); and when all are there, they are shown and the scheduler is told of
// them. A client that goes, or a daemon that dies, before that leaves nothing; after it,
// everything. What is shown, the scheduler knows: commands find no job that is only half there.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/failpoint.h"
#include "core/recipe.h"
#include "daemon/daemon.h"
#include "daemon/replies.h"

namespace berth {
namespace {

constexpr Duration kTakenInOneGo = std::chrono::milliseconds(4);
/// Members of an array that are written, and that the scheduler is told of, in one piece.
constexpr std::uint32_t kWrittenAtOnce = 50;
constexpr std::uint32_t kQueuedAtOnce = 200;
constexpr std::uint64_t kDroppedAtOnce = 20;

}  // namespace

struct Daemon::Intake {
  enum class Stage { Check, Write, Queue };

  SubmitRequest wanted;
  uid_t user = 0;
  Store::Environment environment;
  Time at{};
  JobId first;
  std::uint64_t count = 0;
  std::vector<JobId> starts;  // the first number of each of the submission's jobs
  Stage stage = Stage::Check;
  std::size_t position = 0;  // of the job that is next at this stage,
  std::uint32_t member = 0;  // and where in its array
  bool awaits_commit = false;
  std::vector<Reply> replies;  // of the client, and of those who came with the same token

  SubmittedJob& job() { return wanted.jobs[position]; }
  bool over() const { return position == wanted.jobs.size(); }
  JobId id() const { return JobId{starts[position].value + member}; }

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

/// A submission that is told again while it is taken in is the same one.
bool Daemon::join_intake(uid_t user, const std::string& token, Reply& reply) {
  const auto same = std::find_if(intakes_.begin(), intakes_.end(), [&](const auto& intake) {
    return intake->user == user && intake->wanted.token == token;
  });
  if (same == intakes_.end()) {
    return false;
  }
  (*same)->replies.push_back(std::move(reply));
  return true;
}

void Daemon::begin_intake(SubmitRequest wanted, uid_t user, Reply reply) {
  auto intake = std::make_shared<Intake>();
  intake->wanted = std::move(wanted);
  intake->user = user;
  intake->environment = Store::share_environment(intake->wanted.defaults.environment);
  intake->at = now();
  intake->replies.push_back(std::move(reply));
  intakes_.push_back(intake);
  run_intake(intake);
}

void Daemon::run_intake(const std::shared_ptr<Intake>& intake) {
  write_in_pieces(
      [this, intake] {
        const bool more = continue_intake(*intake);
        if (more && std::exchange(intake->awaits_commit, false)) {
          after_commit([this, intake] { run_intake(intake); });
          return false;
        }
        if (!more) {
          std::erase(intakes_, intake);
        }
        return more;
      },
      kTakenInOneGo);
}

bool Daemon::continue_intake(Intake& intake) {
  switch (intake.stage) {
    case Intake::Stage::Check:
      return check_some(intake);
    case Intake::Stage::Write:
      return write_some(intake);
    case Intake::Stage::Queue:
      return queue_some(intake);
  }
  return false;
}

void Daemon::refuse_intake(Intake& intake, const Error& error) {
  for (Reply& reply : intake.replies) {
    answer(std::move(reply), failed(error));
  }
}

bool Daemon::check_some(Intake& intake) {
  std::erase_if(intake.replies, [](const Reply& reply) { return reply->closed(); });
  if (intake.replies.empty()) {
    return false;
  }
  if (!intake.over()) {
    Result<void> checked = Store::check(intake.job().description, intake.environment);
    checked = checked ? check_job(intake.job(), intake.user) : checked;
    if (!checked) {
      refuse_intake(intake, wrong_job(intake.wanted, intake.position, checked.error()));
      return false;
    }
    intake.count += intake.job().count;
    ++intake.position;
    return true;
  }
  intake.first = store_->next_id();
  if (const Result<void> counted = count_in(intake.wanted, intake.user, intake.first); !counted) {
    refuse_intake(intake, counted.error());
    return false;
  }
  if (const Result<void> staged = store_->stage(intake.first, intake.count); !staged) {
    refuse_intake(intake, staged.error());
    for (std::uint64_t i = 0; i < intake.count; ++i) {
      fair_use_.left(JobId{intake.first.value + i});
    }
    return false;
  }
  intake.begin(Intake::Stage::Write);
  return true;
}

bool Daemon::write_some(Intake& intake) {
  std::erase_if(intake.replies, [](const Reply& reply) { return reply->closed(); });
  if (intake.replies.empty()) {
    drop_staged(intake.first);
    return false;
  }
  commit_due_ = std::min(commit_due_, now() + kCommitDelay);
  if (!intake.over()) {
    SubmittedJob& job = intake.job();
    if (intake.member == 0) {
      const JobId before =
          intake.starts.empty()
              ? intake.first
              : JobId{intake.starts.back().value + intake.wanted.jobs[intake.position - 1].count};
      follow_earlier(intake.wanted.jobs, intake.position, intake.starts);
      intake.starts.push_back(before);
      job.description.user = intake.user;
    }
    JobDescription description = job.description;
    if (description.array_index) {
      *description.array_index += intake.member;
    }
    const std::uint32_t members = std::min(job.count - intake.member, kWrittenAtOnce);
    if (const Result<void> written = store_->insert(intake.id(), members, std::move(description),
                                                    intake.environment, intake.at);
        !written) {
      refuse_intake(intake, wrong_job(intake.wanted, intake.position, written.error()));
      drop_staged(intake.first);
      return false;
    }
    if (intake.id().value - intake.first.value > intake.count / 2) {
      (void)BERTH_FAILPOINT("daemon.intake_half_written");
    }
    intake.next_member(members);
    return true;
  }
  // When this is on disk they are jobs, whatever happens.
  check(store_->complete_staged(intake.first));
  if (!intake.wanted.token.empty()) {
    check(
        store_->remember_token(intake.user, intake.wanted.token,
                               Submission{intake.first, static_cast<std::uint32_t>(intake.count)}));
  }
  intake.awaits_commit = true;
  intake.begin(Intake::Stage::Queue);
  return true;
}

/// Jobs that were checked a while ago: one that they follow may have ended since.
bool Daemon::queue_some(Intake& intake) {
  if (intake.over()) {
    events_->jobs_submitted(intake.first, intake.count);
    for (Reply& reply : intake.replies) {
      answer(std::move(reply), json(to_json(SubmitReply{intake.first, intake.count})));
    }
    return false;
  }
  (void)BERTH_FAILPOINT("daemon.intake_queues");
  const SubmittedJob& job = intake.job();
  const JobId id = intake.id();
  const std::uint32_t members = std::min(job.count - intake.member, kQueuedAtOnce);
  const JobSpec& spec = job.description.spec;
  const Time at = now();
  check(store_->show_staged(id, members, spec.held ? members : 0));
  if (const Result<JobId> taken = driver_->scheduler().tell(Submit{spec, id, members, true}, at);
      !taken) {
    check(Failure(taken.error()));  // its numbers were kept for it
  }
  driver_->memory().jobs_wait(id, members,
                              recipe_of(job.description.project, job.description.command));
  const bool never = std::any_of(spec.after.begin(), spec.after.end(), [&](const auto& after) {
    if (scheduler().find(after.job) != nullptr) {
      return false;
    }
    const Result<JobPhase> other = store_->phase(after.job);
    return other && !is_live(*other) && !satisfied(after.when, outcome_of(*other));
  });
  for (std::uint32_t i = 0; never && i < members; ++i) {
    (void)driver_->scheduler().tell(Cancel{JobId{id.value + i}}, at).has_value();
  }
  intake.next_member(members);
  return true;
}

/// What was staged from `first` on, and is not to be.
void Daemon::drop_staged(JobId first) {
  write_in_pieces([this, first]() mutable {
    const Staging& staging = store_->staging();
    const auto staged = std::find_if(staging.begin(), staging.end(),
                                     [&](const StagedJobs& one) { return one.first == first; });
    if (staged == staging.end()) {
      return false;
    }
    const std::uint64_t count = std::min(staged->count, kDroppedAtOnce);
    check(store_->drop_staged(first, count));
    for (std::uint64_t i = 0; i < count; ++i) {
      fair_use_.left(JobId{first.value + i});
    }
    commit_due_ = std::min(commit_due_, now() + kCommitDelay);
    first.value += count;
    return true;
  });
}

}  // namespace berth
