#include "slurm/slurm_target.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/paths.h"
#include "base/read_file.h"
#include "base/secret.h"
#include "base/small_files.h"
#include "slurm/slurm_words.h"

namespace berth {
namespace {

/// How long starts are gathered for one array.
constexpr std::chrono::milliseconds kGather(20);

void add_to(const Fd& epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event);
}

std::vector<std::string> own_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    all.emplace_back(*entry);
  }
  return all;
}

}  // namespace

SlurmTarget::SlurmTarget(SlurmSettings settings, Run run)
    : settings_(std::move(settings)),
      run_(std::move(run)),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
      events_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (const char* conf = std::getenv("SLURM_CONF"); settings_.conf.empty() && conf != nullptr) {
    settings_.conf = conf;
  }
  add_to(events_, timer_.get());
  add_to(events_, files_.event_fd());
  add_to(events_, talk_.event_fd());
}

SlurmTarget::~SlurmTarget() = default;

Result<void> SlurmTarget::open() {
  wake(Clock::now());
  if (Result<void> made = make_folder(settings_.folder); !made) {
    return made;
  }
  const std::string path = settings_.folder + "/mark";
  if (const Result<std::string> mark = read_file(path); mark && mark->size() == 8) {
    mark_ = *mark;
    return {};
  }
  mark_ = random_name().substr(0, 8);
  return replace_private_file(path, mark_);
}

// --- what an earlier process has left

std::vector<AttemptStart> SlurmTarget::adopt() {
  const std::string prefix = fmt::format("berth-{}-", mark_);
  for (const std::string& name : names_in(settings_.folder)) {
    const std::string folder = settings_.folder + '/' + name;
    if (!name.starts_with(prefix)) {
      continue;
    }
    std::optional<FoundBatch> found = name.ends_with(".new") ? std::nullopt : read_batch(folder);
    if (!found) {
      std::error_code ignored;
      std::filesystem::remove_all(folder, ignored);  // half written, or half removed
      continue;
    }
    auto batch = std::make_unique<Batch>();
    batch->name = name;
    batch->folder = folder;
    batch->options = std::move(found->options);
    batch->environment = std::move(found->environment);
    batch->confirmed = found->confirmed;
    batch->since = Clock::now();
    batch->state =
        found->sent && !found->sent->id.empty() ? Batch::State::Sent : Batch::State::Doubtful;
    batch->send = found->sent ? found->sent->send : 0;
    batch->id = found->sent ? found->sent->id : "";
    for (const auto& [job, attempt] : found->jobs) {
      batch->elements.push_back(Element{JobId{job}, attempt});
    }
    batch->open = batch->kept = batch->elements.size();
    for (std::uint32_t i = 0; i < batch->elements.size(); ++i) {
      keep_place(*batch, i);
    }
    scout_.add(folder);
    batches_[name] = std::move(batch);
  }
  take_records(scout_.look());
  wake(Clock::now());
  return std::exchange(starts_, {});
}

/// The newest attempt of a job is the one that counts.
void SlurmTarget::keep_place(Batch& batch, std::uint32_t index) {
  Place place{&batch, index};
  Place& known = jobs_[batch.elements[index].job];
  if (known.batch != nullptr &&
      known.batch->elements[known.index].attempt > batch.elements[index].attempt) {
    std::swap(known, place);
  }
  std::swap(known, place);
  if (place.batch != nullptr) {
    leave(*place.batch, place.index);
  }
}

/// Nobody asks about this attempt any more.
void SlurmTarget::leave(Batch& batch, std::uint32_t index) {
  Element& element = batch.elements[index];
  if (element.state != Element::State::Over) {
    element.state = Element::State::Over;
    --batch.open;
  }
  if (!element.forgotten) {
    element.forgotten = true;
    --batch.kept;
  }
}

// --- what the owner asks for

Result<void> SlurmTarget::start(const ShimLaunch& launch) {
  if (const Element* known = find(launch.job); known != nullptr &&
                                               known->attempt == launch.attempt &&
                                               known->state != Element::State::Over) {
    return {};  // it is under way since an earlier process
  }
  if (gathered_.empty()) {
    gather_until_ = Clock::now() + kGather;
    wake(gather_until_);
  }
  gathered_.push_back(launch);
  return {};
}

void SlurmTarget::stop(JobId job, StopSignal signal) {
  const auto gathered = std::find_if(gathered_.begin(), gathered_.end(),
                                     [&](const ShimLaunch& each) { return each.job == job; });
  if (gathered != gathered_.end()) {
    AttemptEnd over;
    over.job = job;
    over.attempt = gathered->attempt;
    over.kind = AttemptEnd::Kind::Withdrawn;
    gathered_.erase(gathered);
    ends_.push_back(std::move(over));
    return wake(Clock::now());
  }
  Place place;
  Element* element = find(job, &place);
  if (element == nullptr || element->state == Element::State::Over) {
    return;
  }
  element->stop = signal;
  element->told_to_stop = Clock::now();
  if (element->state == Element::State::Runs) {
    // The job's script must be able to tell this from a requeue.
    files_.add(
        [mark = fmt::format("{}/x/k{}", place.batch->folder, place.index)]() -> Chores::Finish {
          const Fd made(::open(mark.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
          return {};
        });
    cancel(*place.batch, place.index,
           signal == StopSignal::Terminate ? "--batch --signal=TERM" : "");
    return;
  }
  if (element->withdrawing || place.batch->state == Batch::State::Writing) {
    return;  // it is done when the folder is there
  }
  element->withdrawing = true;
  files_.add([this, name = place.batch->name, folder = place.batch->folder,
              index = place.index]() -> Chores::Finish {
    const bool withdrawn = withdraw(folder, index);
    return [this, name, index, withdrawn] {
      const auto found = batches_.find(name);
      if (found == batches_.end()) {
        return;
      }
      Batch& batch = *found->second;
      Element& late = batch.elements[index];
      late.withdrawing = false;
      cancel(batch, index, "");
      if (withdrawn) {
        AttemptEnd over;
        over.kind = AttemptEnd::Kind::Withdrawn;
        end(batch, index, std::move(over));
      }
    };
  });
}

bool SlurmTarget::take_back(JobId job) {
  if (std::erase_if(gathered_, [&](const ShimLaunch& each) { return each.job == job; }) > 0) {
    return true;
  }
  Place place;
  Element* element = find(job, &place);
  if (element == nullptr || element->state != Element::State::Waits || element->withdrawing ||
      place.batch->state == Batch::State::Writing || !withdraw(place.batch->folder, place.index)) {
    return false;
  }
  cancel(*place.batch, place.index, "");
  forget(job, element->attempt);
  return true;
}

bool SlurmTarget::pause(JobId job, bool stopped) {
  Place place;
  if (const Element* element = find(job, &place);
      element != nullptr && element->state == Element::State::Runs) {
    cancel(*place.batch, place.index, stopped ? "--full --signal=STOP" : "--full --signal=CONT");
  }
  return false;
}

void SlurmTarget::send(JobId job, int signal) {
  Place place;
  if (const Element* element = find(job, &place);
      element != nullptr && element->state == Element::State::Runs) {
    cancel(*place.batch, place.index, fmt::format("--batch --signal={}", signal));
  }
}

void SlurmTarget::forget(JobId job, std::uint16_t attempt) {
  Place place;
  Element* element = find(job, &place);
  if (element == nullptr || element->attempt != attempt) {
    return;
  }
  leave(*place.batch, place.index);
  jobs_.erase(job);
  drop_if_done(*place.batch);
}

std::optional<SlurmStanding> SlurmTarget::standing(JobId job) const {
  for (const ShimLaunch& each : gathered_) {
    if (each.job == job) {
      return SlurmStanding{true, "it is about to be handed to Slurm", "", "", ""};
    }
  }
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) {
    return std::nullopt;
  }
  const Batch& batch = *found->second.batch;
  const Element& element = batch.elements[found->second.index];
  SlurmStanding standing;
  standing.pending = element.state == Element::State::Waits;
  standing.id = call_id(batch, found->second.index);
  standing.node = element.node;
  standing.gpus = element.gpus;
  if (!standing.pending) {
    return standing;
  }
  if (!trouble_.empty()) {
    standing.why = fmt::format("the cluster does not answer, and berth keeps trying: {}", trouble_);
  } else if (!batch.trouble.empty()) {
    standing.why = batch.trouble;
  } else if (batch.state != Batch::State::Sent) {
    standing.why = "it is being handed to Slurm";
  } else {
    standing.why = why_pending(element.reason.empty() ? "None" : element.reason);
  }
  return standing;
}

void SlurmTarget::ask(std::vector<std::string> words,
                      std::function<void(const SlurmAnswer&)> answered) {
  talk_.add(
      [this, call = call(std::move(words)), answered = std::move(answered)]() -> Chores::Finish {
        return [answered, answer = run_(call, talk_.stop_fd())] { answered(answer); };
      });
}

// --- what has happened

std::vector<AttemptStart> SlurmTarget::take_starts() {
  std::uint64_t count = 0;
  (void)!::read(timer_.get(), &count, sizeof count);
  wake_ = Clock::time_point::max();
  go_on();
  return std::exchange(starts_, {});
}

std::vector<AttemptEnd> SlurmTarget::take_ends() { return std::exchange(ends_, {}); }

void SlurmTarget::go_on() {
  files_.finish();
  talk_.finish();
  const Clock::time_point now = Clock::now();
  if (!gathered_.empty()) {
    if (gather_until_ <= now) {
      form_batches();
    } else {
      wake(gather_until_);
    }
  }
  if (!batches_.empty() || next_facts_ == Clock::time_point{}) {
    learn_facts(now);
  }
  if (batches_.empty()) {
    return call_off();
  }
  send_ready(now);
  look_at_records(now);
  look_at_queue(now);
  call_off();
}

/// The element of the newest attempt.
SlurmTarget::Element* SlurmTarget::find(JobId job, Place* place) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) {
    return nullptr;
  }
  if (place != nullptr) {
    *place = found->second;
  }
  return &found->second.batch->elements[found->second.index];
}

/// As scancel and squeue name it; empty: it has no number yet.
std::string SlurmTarget::call_id(const Batch& batch, std::uint32_t index) const {
  const std::string& own = batch.elements[index].id;
  const std::string& id = own.empty() ? batch.id : own;
  return id.empty() || batch.elements.size() == 1 ? id : fmt::format("{}_{}", id, index);
}

SlurmCall SlurmTarget::call(std::vector<std::string> words) const {
  SlurmCall made;
  const std::string path = find_program(settings_.bin, words[0]);
  words[0] = path.empty() ? words[0] : path;
  made.words = std::move(words);
  made.environment = slurm_environment(own_environment(), settings_.conf);
  made.environment.emplace_back("SLURM_TIME_FORMAT=%s");
  made.environment.emplace_back("SLURM_BITSTR_LEN=0");  // indices of arrays in full
  made.patience = settings_.patience;
  return made;
}

void SlurmTarget::log(const std::string& text) const {
  if (settings_.log) {
    settings_.log(fmt::format("{}: {}", settings_.name, text));
  }
}

void SlurmTarget::wake(Clock::time_point when) {
  if (when >= wake_) {
    return;
  }
  wake_ = when;
  const auto left = std::max<std::int64_t>(
      1, std::chrono::duration_cast<std::chrono::nanoseconds>(when - Clock::now()).count());
  itimerspec spec{};
  spec.it_value.tv_sec = left / 1'000'000'000;
  spec.it_value.tv_nsec = left % 1'000'000'000;
  ::timerfd_settime(timer_.get(), 0, &spec, nullptr);
}

// --- ends

void SlurmTarget::end(Batch& batch, std::uint32_t index, AttemptEnd over) {
  Element& element = batch.elements[index];
  if (element.state == Element::State::Over) {
    return;
  }
  element.state = Element::State::Over;
  --batch.open;
  over.job = element.job;
  over.attempt = element.attempt;
  if (over.note.empty()) {
    over.note = element.note;
  }
  ends_.push_back(std::move(over));
  wake(Clock::now());
}

/// `how`: options of scancel; none ends the job in Slurm.
void SlurmTarget::cancel(const Batch& batch, std::uint32_t index, std::string_view how) {
  if (std::string id = call_id(batch, index); !id.empty()) {
    cancels_[std::string(how)].push_back(std::move(id));
    wake(Clock::now());
  }
}

void SlurmTarget::call_off() {
  constexpr std::size_t kAtOnce = 500;
  for (auto& [how, ids] : std::exchange(cancels_, {})) {
    for (std::size_t from = 0; from < ids.size(); from += kAtOnce) {
      std::vector<std::string> words = {"scancel", "--quiet"};
      for (std::size_t at = 0; at < how.size();) {
        const std::size_t blank = std::min(how.find(' ', at), how.size());
        words.push_back(how.substr(at, blank - at));
        at = blank + 1;
      }
      words.insert(words.end(), ids.begin() + static_cast<std::ptrdiff_t>(from),
                   ids.begin() + static_cast<std::ptrdiff_t>(std::min(from + kAtOnce, ids.size())));
      ask(std::move(words), [this](const SlurmAnswer&) {
        next_queue_ = std::min(next_queue_, Clock::now() + std::chrono::seconds(2));
        wake(next_queue_);
      });
    }
  }
}

/// Everything about the batch is known elsewhere: its folder may go.
void SlurmTarget::drop_if_done(Batch& batch) {
  if (batch.kept > 0 || batch.state == Batch::State::Writing ||
      batch.state == Batch::State::Sending) {
    return;
  }
  files_.add([this, folder = batch.folder]() -> Chores::Finish {
    scout_.drop(folder);
    remove_batch(folder);
    return {};
  });
  batches_.erase(batch.name);
}

}  // namespace berth
