#include "daemon/handlers/job_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/units.h"
#include "core/recipe.h"
#include "daemon/job_choice.h"
#include "daemon/scans/job_walk.h"
#include "daemon/submission_checks.h"

namespace berth {
namespace {

/// Each is written down, and what becomes of it, too.
constexpr std::size_t kRecordsAtOnce = 20;
constexpr Duration kActInOneGo = std::chrono::milliseconds(5);
constexpr std::size_t kMostReasons = 10;

struct Verb {
  std::string_view name;
  std::vector<JobPhase> phases;  // of the jobs that a choice by anything but numbers means
  std::string_view which;        // the same in words
};

const std::vector<Verb>& verbs() {
  using enum JobPhase;
  static const std::vector<Verb> kVerbs = {
      {"kill", {Held, Queued, Starting, Running}, "job that runs or waits"},
      {"signal", {Running}, "running job"},
      {"hold", {Queued}, "queued job"},
      {"release", {Held}, "held job"},
      {"pause", {Running}, "running job"},
      {"resume", {Running}, "running job"},
      {"rerun", {Succeeded, Failed, Cancelled, TimedOut, Oom, Lost}, "job that has ended"},
      {"edit", {Held, Queued}, "waiting job"},
  };
  return kVerbs;
}

}  // namespace

struct JobCommands::Batch {
  std::string verb;
  std::string_view which;       // it is for, in words
  std::optional<JobEdit> edit;  // where that is what it does
  int signal = 0;
  Peer peer;
  JobQuery query;
  std::optional<JobWalk> walk;
  bool single = false;  // one job was named: what is wrong with it is the answer
  std::uint64_t done = 0;
  std::uint64_t refused = 0;
  std::vector<Error> reasons;
  Turns::Reply reply;
};

void JobCommands::handle(RoutedRequest asked) {
  const HttpRequest& request = asked.request;
  const std::string_view name = asked.verb;
  const auto verb = std::find_if(verbs().begin(), verbs().end(),
                                 [&](const Verb& known) { return known.name == name; });
  BERTH_CHECK(verb != verbs().end());  // whatever has a route is there
  const auto words = request.parameters("select");
  Result<JobFilter> filter = choose_jobs(desk_, request);
  if (!filter || words.empty()) {
    return desk_.answer(
        std::move(asked.reply),
        failed(filter ? Error{ErrorCode::Usage, "say which jobs"} : filter.error()));
  }
  const Result<std::int64_t> signal =
      parse_integer(request.parameter("signal").value_or("0"), "signal");
  if (!signal || *signal < 0 || *signal > 64 || (name == "signal" && *signal == 0)) {
    return desk_.answer(std::move(asked.reply),
                        failed({ErrorCode::Usage, "signal must be from 1 to 64"}));
  }
  auto batch = std::make_shared<Batch>();
  if (name == "edit" || (name == "rerun" && !request.body.empty())) {
    const Result<JobEdit> edit = JobEdit::parse(request.body);
    if (!edit) {
      return desk_.answer(std::move(asked.reply), failed(edit.error()));
    }
    batch->edit = *edit;
  }
  batch->verb = name;
  batch->which = verb->which;
  batch->signal = static_cast<int>(*signal);
  batch->peer = request.peer;
  batch->single =
      words.size() == 1 && filter->ids.size() == 1 && filter->ids[0].first == filter->ids[0].last;
  batch->query.filter = desk_.privacy.narrowed(std::move(*filter), request.peer.uid);
  const bool numbers_alone =
      !batch->query.filter.ids.empty() && batch->query.filter.or_named.empty();
  if (!numbers_alone && batch->query.filter.phases.empty()) {
    batch->query.filter.phases = verb->phases;
  }
  batch->reply = std::move(asked.reply);
  batch->walk.emplace(batch->query, desk_.store);
  desk_.turns.in_pieces([this, batch] { return continue_batch(*batch); }, kActInOneGo);
}

/// A client that goes leaves the rest undone: whoever stops a command midway wants that.
bool JobCommands::continue_batch(Batch& batch) {
  if (batch.reply->gone()) {
    return false;
  }
  const Result<std::vector<JobRecord>> jobs = batch.walk->next(desk_.store, kRecordsAtOnce);
  if (!jobs) {
    desk_.answer(std::move(batch.reply), failed(jobs.error()));
    return false;
  }
  for (const JobRecord& job : *jobs) {
    const bool allowed = Desk::may_change(batch.peer, job.description.user);
    const Result<void> done =
        allowed ? act(batch, job)
                : fail(ErrorCode::Refused, fmt::format("job {} is another user's", job.id.value));
    if (!allowed) {
      desk_.note_refusal(batch.peer, fmt::format("to {} jobs of others", batch.verb));
    }
    if (done) {
      ++batch.done;
      desk_.events.job_changed(job.id);
      continue;
    }
    ++batch.refused;
    if (batch.reasons.size() < kMostReasons) {
      batch.reasons.push_back(done.error());
    }
  }
  if (batch.walk->over()) {
    finish_batch(batch);
    return false;
  }
  return true;
}

void JobCommands::finish_batch(Batch& batch) {
  if (batch.done == 0 && batch.refused == 0) {
    return desk_.answer(
        std::move(batch.reply),
        failed(batch.single
                   ? Error{ErrorCode::NotFound,
                           fmt::format("there is no job {}", batch.query.filter.ids[0].first.value)}
                   : Error{ErrorCode::NotFound, fmt::format("no {} matches", batch.which)}));
  }
  if (batch.single && batch.refused > 0) {
    return desk_.answer(std::move(batch.reply), failed(batch.reasons[0]));
  }
  CommandReply reply{batch.done, batch.refused, {}};
  for (const Error& error : batch.reasons) {
    reply.reasons.push_back(error.message);
  }
  desk_.answer(std::move(batch.reply), json(to_json(reply)));
}

Result<void> JobCommands::act(const Batch& batch, const JobRecord& job) {
  const Time at = desk_.now();
  const std::string& verb = batch.verb;
  const auto apply = [&](const auto& input) { return desk_.driver.scheduler().tell(input, at); };
  if (verb == "rerun") {
    return rerun(job, batch.edit, batch.peer.uid);
  }
  if (!is_live(job.phase)) {
    return fail(ErrorCode::Refused,
                fmt::format("job {} has already ended: {}", job.id.value, phase_name(job.phase)));
  }
  if (verb == "kill") {
    return apply(Cancel{job.id});
  }
  if (verb == "hold" || verb == "edit") {
    take_back(job);
  }
  if (verb == "hold" || verb == "release") {
    Result<void> done = verb == "hold" ? apply(Hold{job.id}) : apply(Release{job.id});
    if (done) {
      desk_.check(desk_.store.jobs().set_waiting(job.id, verb == "hold", job.not_before));
    }
    return done;
  }
  if (verb == "edit") {
    return edit(job, *batch.edit, batch.peer.uid);
  }
  return send(batch, job);
}

/// A job that only waits on a cluster waits here again.
void JobCommands::take_back(const JobRecord& job) {
  if (job.phase == JobPhase::Starting && runner_.take_back(job.id)) {
    desk_.driver.attempts().take_back(job.id, desk_.now());
    desk_.check(desk_.store.jobs().set_waiting(job.id, false, job.not_before));
  }
}

/// To the job's processes.
Result<void> JobCommands::send(const Batch& batch, const JobRecord& job) {
  if (job.phase != JobPhase::Running) {
    return fail(ErrorCode::Refused,
                fmt::format("job {} is {}, not running", job.id.value, phase_name(job.phase)));
  }
  desk_.turns.after_commit([this, id = job.id, verb = batch.verb, signal = batch.signal] {
    if (verb == "signal") {
      runner_.send(id, signal);
    } else {
      const bool stop = verb == "pause";
      const bool heard = runner_.pause(id, stop);
      pauses_.told(id, stop, heard, desk_.now());
    }
  });
  return {};
}

/// Back to the queue, at its end; the attempts that it has had stay on record.
Result<void> JobCommands::rerun(const JobRecord& job, const std::optional<JobEdit>& changes,
                                uid_t editor) {
  const Time at = desk_.now();
  if (is_live(job.phase)) {
    return fail(ErrorCode::Refused, fmt::format("job {} has not ended yet: it is {}", job.id.value,
                                                phase_name(job.phase)));
  }
  if (job.attempt == std::numeric_limits<decltype(job.attempt)>::max()) {
    return fail(ErrorCode::Refused,
                fmt::format("job {} has had {} attempts, and there is no number for another: "
                            "submit it as a new job",
                            job.id.value, job.attempt));
  }
  JobRecord again = job;
  JobSpec& spec = again.description.spec;
  spec.after.clear();  // they were met once
  spec.begin = {};
  spec.held = false;
  again.not_before = {};
  spec.owner = desk_.owners.of(job.description.project, job.description.user);
  if (changes) {
    Result<JobDescription> changed = edited(again, *changes, editor);
    if (!changed) {
      return Failure(changed.error());
    }
    again.description = std::move(*changed);
  }
  if (Result<void> checked = desk_.scheduler().check_submission(spec); !checked) {
    return checked;
  }
  if (Result<void> free = desk_.outputs.check_rerun(job.id, again.description); !free) {
    return free;
  }
  const uid_t user = job.description.user;
  const std::uint64_t bytes = text_bytes(again.description);
  if (Result<void> fits = desk_.fair_use.check_queue(user, 1, bytes); !fits) {
    return fits;
  }
  desk_.fair_use.joined(job.id, 1, user, bytes);
  desk_.outputs.claim(job.id, 1, again.description);
  const JobDescription& told = again.description;
  const Recipe recipe = recipe_of(told.project, told.command);
  Restore restore{job.id, spec, at, job.attempt, std::nullopt};
  const bool learned = desk_.driver.lengths().estimate(restore.spec, recipe, user);
  desk_.driver.scheduler().tell(restore, at);
  desk_.check(desk_.store.jobs().set_waiting(job.id, false, spec.begin));
  if (changes) {
    desk_.check(desk_.store.jobs().amend(job.id, spec, told.name, told.command));
  }
  desk_.driver.memory().jobs_wait(job.id, 1, recipe);
  desk_.driver.lengths().job_changed(job.id, recipe, user, learned);
  return {};
}

/// The job as it would be with the changes, if all of them can be made.
Result<JobDescription> JobCommands::edited(const JobRecord& job, const JobEdit& changes,
                                           uid_t editor) const {
  JobDescription edited = job.description;
  edited.spec.begin = std::max(edited.spec.begin, job.not_before);
  edited.spec.owner = desk_.owners.of(edited.project, edited.user);
  const JobSpec before = edited.spec;
  Result<void> checked = changes.apply(edited);
  checked = checked ? desk_.fair_use.check_rank(edited.spec, editor, before) : checked;
  checked = checked ? check_warning(edited.spec) : checked;
  checked =
      checked ? JobTable::check(edited, JobTable::share_environment(edited.environment)) : checked;
  checked = checked ? desk_.driver.mps().settle(edited.spec.needs, edited.user) : checked;
  checked = checked ? check_cluster(desk_, edited.spec, edited.user) : checked;
  if (!checked) {
    return Failure(checked.error());
  }
  return edited;
}

Result<void> JobCommands::edit(const JobRecord& job, const JobEdit& changes, uid_t editor) {
  const Result<JobDescription> wanted = edited(job, changes, editor);
  if (!wanted) {
    return Failure(wanted.error());
  }
  JobSpec spec = wanted->spec;
  const Recipe recipe = recipe_of(wanted->project, wanted->command);
  const bool learned = desk_.driver.lengths().estimate(spec, recipe, wanted->user);
  if (Result<void> done = desk_.driver.scheduler().tell(Edit{job.id, spec}, desk_.now()); !done) {
    return done;
  }
  desk_.check(desk_.store.jobs().amend(job.id, wanted->spec, wanted->name, wanted->command));
  desk_.driver.memory().jobs_wait(job.id, 1, recipe);
  desk_.driver.lengths().job_changed(job.id, recipe, wanted->user, learned);
  return {};
}

}  // namespace berth
