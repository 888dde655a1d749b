// Memory: what jobs claim, what they turn out to use, and what follows from it.
#include <utility>

#include "daemon/daemon.h"

namespace berth {
namespace {

/// Waiting jobs that are looked at in one turn, when more is known about their recipe.
constexpr std::size_t kClaimsAtOnce = 1000;

}  // namespace

void Daemon::open_peaks() {
  peaks_ = std::make_unique<PeakFile>(
      paths_.state + "/peaks",
      [this](const Recipe& recipe, Bytes peak) { learner_.learn(recipe, peak); });
}

void Daemon::await_claim(JobId first, std::uint32_t count, const Recipe& recipe) {
  for (std::uint32_t i = 0; i < count; ++i) {
    learner_.job_waits(JobId{first.value + i}, recipe, *scheduler_);
  }
}

/// Whether it matters what it wrote last: it may have run out of memory.
bool Daemon::needs_words(const Job& job, const AttemptEnd& end, const Active& active) const {
  const auto* running = std::get_if<Running>(&job.state);
  const bool profiled = running != nullptr && running->stopping == Stopping::Profile;
  return end.kind == AttemptEnd::Kind::Exited && active.gpus > 0 &&
         (end.code != 0 || end.signal != 0 || profiled);
}

/// From its output, then from its error output. Where the files do not answer, nothing was said.
void Daemon::read_words(const AttemptEnd& end, std::string words, std::size_t file) {
  const Job* job = scheduler_->find(end.job);
  const auto found = active_.find(end.job);
  if (job == nullptr || job->attempt != end.attempt || found == active_.end()) {
    return;
  }
  Active& active = found->second;
  const std::array paths = {&active.stdout_path, &active.stderr_path};
  while (file < paths.size() && paths[file]->empty()) {
    ++file;
  }
  if (file == paths.size()) {
    active.words = std::move(words);
    if (active.awaits_words) {
      take_end(end, now());
    }
    return;
  }
  FileQuestion question;
  question.path = *paths[file];
  question.from_end = true;
  question.most = kComplaintTail;
  user_files_.ask(active.user, std::move(question),
                  [this, end, words = std::move(words), file](const Result<FileAnswer>& answer) {
                    read_words(end, words + (answer ? answer->bytes : ""), file + 1);
                  });
}

/// True when they are not there yet: the end is taken again when they are.
bool Daemon::await_words(const Job& job, const AttemptEnd& end) {
  Active& active = active_[end.job];
  if (active.words || !needs_words(job, end, active)) {
    return false;
  }
  active.awaits_words = false;
  read_words(end, "", 0);
  active.awaits_words = !active.words;
  return active.awaits_words;
}

bool Daemon::complains_of_memory(const Job& job, const AttemptEnd& end,
                                 const Active& active) const {
  return needs_words(job, end, active) && (end.code != 0 || end.signal != 0) &&
         find_memory_complaint(active.words.value_or("")).has_value();
}

/// A reading has come since they ended: whoever took their memory still has it.
void Daemon::settle_complaints(Time at) {
  for (const AttemptEnd& end : std::exchange(complaints_, {})) {
    const Job* job = scheduler_->find(end.job);
    if (job != nullptr && job->lease() != nullptr && job->attempt == end.attempt) {
      settle_end(*job, end, at);
    }
  }
}

/// Whether an attempt failed because it got no more memory; notes whose fault that was.
std::optional<MemoryEnd> Daemon::judge_memory(const Job& job, const AttemptEnd& end,
                                              Active& active) {
  if (!needs_words(job, end, active)) {
    return std::nullopt;
  }
  const auto* running = std::get_if<Running>(&job.state);
  const bool profiled = running != nullptr && running->stopping == Stopping::Profile;
  const std::optional<MemoryEnd> found =
      memory_.judge(job, active.words.value_or(""), scheduler_->devices());
  if (!found) {
    return found;
  }
  if (profiled) {
    if (found->wanted > Bytes{}) {
      peaks_->add(active.recipe, found->wanted);
    }
    return found;
  }
  active.message = describe(*found);
  if (found->blame.cause == MemoryCause::Own) {
    learner_.learn_at_least(active.recipe, found->wanted);
  } else if (const auto offender = active_.find(found->blame.offender); offender != active_.end()) {
    learner_.learn_at_least(offender->second.recipe, memory_.peak(found->blame.offender));
  }
  return found;
}

/// Before the scheduler is told of the end: those that wait are to claim what it teaches when it
/// decides who comes next.
void Daemon::learn_peak(const AttemptEnd& end, const Active& active) {
  const Bytes peak = memory_.peak(end.job);
  if (end.kind == AttemptEnd::Kind::Exited && end.code == 0 && end.signal == 0 && peak > Bytes{}) {
    peaks_->add(active.recipe, peak);
  }
}

/// Some at a time, so that others are served meanwhile.
void Daemon::pass_on_claims(Time at) {
  if (!learner_.behind()) {
    return;
  }
  for (const Reclaim& change : learner_.reclaims(*scheduler_, kClaimsAtOnce)) {
    journal(change, at);
    scheduler_->apply(change);
  }
  if (learner_.behind()) {
    loop_.post([] {});
  }
}

}  // namespace berth
