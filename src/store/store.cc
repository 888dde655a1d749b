#include "store/store.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "store/fields.h"
#include "store/group.h"
#include "store/reader.h"
#include "store/redo_log.h"
#include "store/schema.h"
#include "store/store_files.h"
#include "store/writer.h"

namespace berth {

/// In the order in which each refers to those before.
struct Store::Parts {
  explicit Parts(Database opened) : database(std::move(opened)) {}

  static Result<std::unique_ptr<Parts>> open(const std::string& path);

  Database database;
  std::unique_ptr<Writer> writer;
  std::optional<Reader> reader;
  std::optional<Group> group;
  std::optional<StoreFiles> files;
};

Result<std::unique_ptr<Store::Parts>> Store::Parts::open(const std::string& path) {
  Result<Database> database = open_database(path);
  if (!database) {
    return Failure(database.error());
  }
  auto parts = std::make_unique<Parts>(std::move(*database));
  const auto damaged = [&](const Error& error) {
    parts->database.merge_log_on_close(false);
    return fail(ErrorCode::Refused,
                fmt::format("{} is damaged ({}); berth leaves it as it is: move it away to begin "
                            "with an empty queue, or put a backup in its place",
                            path, error.message));
  };
  Result<std::unique_ptr<Writer>> writer = Writer::make(parts->database);
  if (!writer) {
    return damaged(writer.error());
  }
  parts->writer = std::move(*writer);
  Result<Reader> reader =
      Reader::make(parts->database, parts->writer->interner(), parts->writer->counters().staging);
  if (!reader) {
    return damaged(reader.error());
  }
  parts->reader.emplace(std::move(*reader));
  parts->group.emplace(parts->database, *parts->writer, RedoLog::open(path));
  if (const Result<void> recovered = parts->group->recover(); !recovered) {
    return damaged(recovered.error());
  }
  parts->files.emplace(path);
  return parts;
}

Store::Store(std::string path, std::unique_ptr<Parts> parts)
    : path_(std::move(path)), parts_(std::move(parts)) {}

Store::~Store() {
  if (misses_files()) {
    rollback();
    if (!keep_files()) {
      // What has these names now may be somebody else's.
      parts_->database.merge_log_on_close(false);
      return;
    }
  }
  parts_->group->close();
}

Result<std::unique_ptr<Store>> Store::open(const std::string& path) {
  Result<std::unique_ptr<Parts>> parts = Parts::open(path);
  if (!parts) {
    return Failure(parts.error());
  }
  if (const Result<void> shown = show_complete(**parts); !shown) {
    return Failure(shown.error());
  }
  return std::unique_ptr<Store>(new Store(path, std::move(*parts)));
}

/// What was promised to be jobs, but for the showing.
Result<void> Store::show_complete(Parts& parts) {
  const Staging staging = parts.writer->counters().staging;
  for (const StagedJobs& staged : staging) {
    if (!staged.complete) {
      continue;
    }
    const Result<std::int64_t> held = parts.database.number(fmt::format(
        "SELECT count(*) FROM jobs WHERE id BETWEEN {} AND {} AND state = {}", staged.first.value,
        staged.first.value + staged.count - 1, static_cast<int>(JobPhase::Held)));
    if (!held) {
      return Failure(held.error());
    }
    const ShowStaged show{staged.first, staged.count, static_cast<std::uint64_t>(*held)};
    if (Result<void> shown = parts.group->add(show); !shown) {
      return shown;
    }
  }
  return {};
}

// --- groups

Result<void> Store::commit() {
  if (!parts_->group->has_changes() && !suspect_) {
    return {};
  }
  Result<void> committed = parts_->group->commit();
  // Afterwards: what went to a file that is gone by now was written for nobody.
  return committed || misses_files() ? keep_files() : committed;
}

void Store::rollback() { parts_->group->rollback(); }

bool Store::misses_files() const {
  return parts_->files->problem(parts_->group->committed_size()).has_value();
}

Result<void> Store::keep_files() {
  const std::optional<StoreFiles::Problem> problem =
      parts_->files->problem(parts_->group->committed_size());
  suspect_ = out_of_reach_ = problem.has_value();
  if (!problem) {
    return {};
  }
  std::string kept;
  const Result<void> rescued = problem->damaged
                                   ? fail(ErrorCode::Io,
                                          "what is left of it is damaged (put a backup in its "
                                          "place and start the daemon again)")
                                   : write_anew(kept);
  if (!rescued) {
    return fail(ErrorCode::Unavailable,
                fmt::format("{}, and the queue cannot be written anew: {}. Nothing is accepted "
                            "until it can be",
                            problem->text, rescued.error().message));
  }
  suspect_ = out_of_reach_ = false;
  rescue_.done(fmt::format("{}: the queue was written anew{}", problem->text,
                           kept.empty() ? "" : ", and what was there is now " + kept));
  return {};
}

/// The open files still have everything, whatever became of their names. The new ones are opened
/// before the old ones are closed, so that a failure leaves all as it was.
Result<void> Store::write_anew(std::string& kept) {
  if (!rescue_.allowed) {
    return fail(ErrorCode::Refused, "nobody has asked for it");
  }
  if (Result<void> allowed = rescue_.allowed(); !allowed) {
    return allowed;
  }
  if (Result<void> settled = parts_->group->settle(); !settled) {
    return settled;
  }
  const std::string made = path_ + "-rescue";
  if (Result<void> fresh = make_fresh_file(made); !fresh) {
    return fresh;
  }
  if (const Result<void> copied = parts_->database.copy_to(made); !copied) {
    ::unlink(made.c_str());
    return copied;
  }
  (void)BERTH_FAILPOINT("store.rescue_written");
  struct stat there {};
  if (::lstat(path_.c_str(), &there) == 0 && there.st_ino != parts_->files->inode() &&
      there.st_ino != rescued_) {
    Result<std::string> moved = set_aside(path_);
    if (!moved) {
      return Failure(moved.error());
    }
    kept = std::move(*moved);
  }
  if (Result<void> named = give_name(made, path_); !named) {
    return named;
  }
  (void)BERTH_FAILPOINT("store.rescue_named");
  rescued_ = ::stat(path_.c_str(), &there) == 0 ? there.st_ino : 0;
  Result<std::unique_ptr<Parts>> parts = Parts::open(path_);
  if (!parts) {
    return Failure(parts.error());
  }
  parts_->database.merge_log_on_close(false);  // its log has the name of the new one's
  parts_ = std::move(*parts);
  return {};
}

// --- writes

JobId Store::next_id() const { return JobId{parts_->writer->counters().next_id}; }

Result<void> Store::insert(JobId first, std::uint32_t count, JobDescription description,
                           Time submitted) {
  Environment environment = share_environment(description.environment);
  return insert(first, count, std::move(description), std::move(environment), submitted);
}

Store::Environment Store::share_environment(const std::vector<std::string>& variables) {
  return std::make_shared<const std::string>(encode_list(variables));
}

Result<void> Store::insert(JobId first, std::uint32_t count, JobDescription description,
                           Environment environment, Time submitted) {
  description.environment = {};
  const std::uint16_t weight = description.spec.weight;
  Result<void> inserted = parts_->group->add(InsertJobs{
      first, count, submitted, std::make_unique<const JobDescription>(std::move(description)),
      std::move(environment)});
  if (!inserted || weight == 1) {
    return inserted;
  }
  return parts_->group->add(SetWeight{first, count, weight});
}

Result<void> Store::check(const JobDescription& description, const Environment& environment) {
  return check_texts(description, environment->size());
}

Result<void> Store::stage(JobId first, std::uint64_t count) {
  return parts_->group->add(StageJobs{first, count});
}

Result<void> Store::complete_staged(JobId first) {
  return parts_->group->add(CompleteStaged{first});
}

Result<void> Store::show_staged(JobId first, std::uint64_t count, std::uint64_t held) {
  return parts_->group->add(ShowStaged{first, count, held});
}

Result<void> Store::drop_staged(JobId first, std::uint64_t count) {
  return parts_->group->add(DropStaged{first, count});
}

const Staging& Store::staging() const { return parts_->writer->counters().staging; }

Result<void> Store::remember_token(uid_t user, std::string token, Submission submission) {
  return parts_->group->add(RememberToken{user, std::move(token), submission});
}

Result<void> Store::set_waiting(JobId job, bool held, Time not_before) {
  return parts_->group->add(SetWaiting{job, held, not_before});
}

Result<void> Store::amend(JobId job, JobSpec spec, std::string name, std::string command) {
  const std::uint16_t weight = spec.weight;
  Result<void> amended =
      parts_->group->add(Amend{job, std::move(spec), std::move(name), std::move(command)});
  return amended ? parts_->group->add(SetWeight{job, 1, weight}) : amended;
}

Result<void> Store::set_setting(std::string name, std::string value) {
  return parts_->group->add(SetSetting{std::move(name), std::move(value)});
}

Result<void> Store::begin_attempt(StoredAttempt attempt) {
  return parts_->group->add(BeginAttempt{std::move(attempt)});
}

Result<void> Store::start_attempt(JobId job, std::uint16_t attempt, pid_t pid, Time started) {
  return parts_->group->add(StartAttempt{job, attempt, pid, started});
}

Result<void> Store::set_claim(JobId job, Bytes memory, std::uint8_t memory_retries) {
  return parts_->group->add(SetClaim{job, memory, memory_retries});
}

Result<void> Store::set_stopping(JobId job, Stopping why) {
  return parts_->group->add(SetStopping{job, why});
}

Result<void> Store::end_attempt(JobId job, std::uint16_t attempt, Ending ending) {
  return parts_->group->add(EndAttempt{job, attempt, std::move(ending)});
}

Result<void> Store::end_job(JobId job, Ending ending) {
  return parts_->group->add(EndJob{job, std::move(ending)});
}

Result<Forgotten> Store::forget(const ForgetQuery& query) {
  Result<Forgotten> found = parts_->reader->find_forgettable(query);
  if (found && !found->jobs.empty()) {
    if (const Result<void> added = parts_->group->add(ForgetJobs{found->jobs}); !added) {
      return Failure(added.error());
    }
  }
  return found;
}

Result<void> Store::append(Time time, const JournalInput& input) {
  std::string bytes = encode_input(input);
  appended_ += bytes.size() + kJournalRow;
  return parts_->group->add(AppendInput{time, std::move(bytes)});
}

Result<void> Store::forget_journal_before(std::uint64_t entry) {
  return parts_->group->add(ForgetInputs{entry});
}

Result<bool> Store::give_back() { return parts_->group->shrink(); }

// --- reads

Result<std::optional<Submission>> Store::find_token(uid_t user, std::string_view token) {
  return parts_->reader->find_token(user, token);
}

Result<void> Store::for_each_live(const std::function<void(const LiveJob&)>& visit) {
  const PhaseCounts& numbers = counts();
  std::uint64_t live = 0;
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < kPhases; ++i) {
    all += numbers[i];
    live += is_live(static_cast<JobPhase>(i)) ? numbers[i] : 0;
  }
  return parts_->reader->for_each_live(live < all / 8, visit);
}

Result<JobRecord> Store::job(JobId id) { return parts_->reader->job(id, true); }
Result<JobRecord> Store::job_without_environment(JobId id) {
  return parts_->reader->job(id, false);
}
Result<JobPhase> Store::phase(JobId id) { return parts_->reader->phase(id); }
Result<JobPage> Store::list(const JobQuery& query) { return parts_->reader->list(query); }
Result<void> Store::scan(const ScanQuery& query,
                         const std::function<void(const ScannedJob&)>& visit) {
  return parts_->reader->scan(query, visit);
}
Result<bool> Store::walk_attempts(AttemptCursor& at, Time ended_from, Time begun_to,
                                  std::size_t most,
                                  const std::function<void(const EndedAttempt&)>& visit) {
  return parts_->reader->walk_attempts(at, ended_from, begun_to, most, visit);
}
Result<bool> Store::walk_ends(EndCursor& at, Time from, std::size_t most,
                              const std::function<void(JobPhase)>& visit) {
  return parts_->reader->walk_ends(at, from, most, visit);
}
Result<bool> Store::walk_labels(LabelCursor& at, std::size_t most,
                                const std::function<void(std::int64_t label)>& visit) {
  return parts_->reader->walk_labels(at, most, visit);
}
Result<std::string> Store::shared_text(std::int64_t id) { return parts_->reader->shared_text(id); }
Result<std::pair<std::string, std::string>> Store::label_text(std::int64_t label) {
  const Result<std::string> content = shared_text(label);
  if (!content) {
    return Failure(content.error());
  }
  std::optional<std::pair<std::string, std::string>> decoded = decode_label(*content);
  if (!decoded) {
    return fail(ErrorCode::Io, "the record of a label is damaged");
  }
  return std::move(*decoded);
}
Result<std::optional<std::string>> Store::setting(std::string_view name) {
  return parts_->reader->setting(name);
}
const PhaseCounts& Store::counts() const { return parts_->writer->counters().by_phase; }
Result<std::vector<StoredAttempt>> Store::attempts(JobId job, std::size_t newest) {
  return parts_->reader->attempts(job, newest);
}
Result<std::optional<StoredAttempt>> Store::attempt(JobId job, std::uint16_t number) {
  return parts_->reader->attempt(job, number);
}

std::uint64_t Store::next_entry() const { return parts_->writer->counters().next_entry; }
Result<std::vector<JournalPart>> Store::journal_parts() { return parts_->reader->journal_parts(); }
Result<std::vector<JournalEntry>> Store::journal(std::uint64_t from, std::size_t limit) {
  return parts_->reader->journal(from, limit);
}

}  // namespace berth
