#include "drive/journal_player.h"

#include <algorithm>

#include "policy/policies.h"

namespace berth {
namespace {

/// An entry of a few bytes may name any number of jobs.
constexpr std::uint64_t kMostJobs = 10'000'000;

/// Jobs are found by their numbers in a table: no daemon has come so far.
constexpr std::uint64_t kMostNumber = std::uint64_t{1} << 32;

bool is_number(JobId first, std::uint64_t jobs) {
  return first.value > 0 && first.value <= kMostNumber && jobs <= kMostJobs;
}

Failure nonsense() {
  return fail(ErrorCode::Refused,
              "it is not what a daemon has written, or berth decides otherwise now");
}

std::uint64_t jobs_in(const Restored& input) {
  std::uint64_t jobs = input.count;
  for (const Restored::More& more : input.more) {
    jobs += more.count;
  }
  return jobs;
}

}  // namespace

Result<void> JournalPlayer::take(const JournalInput& input, Time at) {
  actions_.clear();
  refusal_.clear();
  return std::visit([&](const auto& one) { return play(one, at); }, input);
}

Result<void> JournalPlayer::begin(std::unique_ptr<ToldScheduler> told, Time at) {
  told_ = std::move(told);
  checkpoint_.reset();
  began_ = std::min(began_, at);
  return {};
}

Result<void> JournalPlayer::play(const Restarted& input, Time at) {
  Result<std::unique_ptr<Policy>> policy = make_live_policy(input.policy);
  if (!policy) {
    return Failure(policy.error());
  }
  return begin(std::make_unique<ToldScheduler>(std::move(*policy), input, at), at);
}

// --- checkpoints: where there is a scheduler already, its books must be those

Result<void> JournalPlayer::play(const CheckpointBegun&, Time) {
  if (told_ == nullptr) {
    checkpoint_.emplace();
  }
  return {};
}

Result<void> JournalPlayer::play(const JobsGone& input, Time) {
  if (checkpoint_) {
    checkpoint_->take(input);
  }
  return {};
}

Result<void> JournalPlayer::play(const CheckpointDone& input, Time at) {
  if (told_ != nullptr) {
    refusal_ = told_->close_books() == input.books ? "" : "the checkpoint has other books";
    return {};
  }
  if (!checkpoint_) {
    return {};
  }
  Result<std::unique_ptr<ToldScheduler>> made = checkpoint_->finish(input, at);
  return made ? begin(std::move(*made), at) : Failure(made.error());
}

// --- inputs

Result<void> JournalPlayer::play(const Restored& input, Time at) {
  const std::uint64_t jobs = jobs_in(input);
  if (input.first.standing) {
    if (checkpoint_ &&
        (checkpoint_->jobs() + jobs > kMostJobs || !is_number(input.first.id, jobs))) {
      return nonsense();
    }
    if (checkpoint_) {
      checkpoint_->take(input);
    }
    return {};
  }
  if (told_ == nullptr) {
    return {};
  }
  if (!has_room(input.first.id, jobs)) {
    return nonsense();
  }
  bool sound = true;
  input.for_each([&](const Restore& job) {
    sound = sound && can_restore(told_->get(), job);
    if (sound) {
      told_->tell(job, at);
    }
  });
  return sound ? Result<void>{} : nonsense();
}

Result<void> JournalPlayer::play(const Submit& input, Time at) {
  if (told_ == nullptr) {
    return {};
  }
  if (!has_room(input.id, input.count)) {
    return nonsense();
  }
  const Result<JobId> taken = told_->tell(input, at);
  return taken ? Result<void>{} : nonsense();
}

Result<void> JournalPlayer::play(const PolicyChanged& input, Time at) {
  Result<std::unique_ptr<Policy>> policy = make_live_policy(input.policy);
  if (!policy) {
    return Failure(policy.error());
  }
  if (told_ != nullptr) {
    told_->set_policy(std::move(*policy), input, at);
  }
  return {};
}

Result<void> JournalPlayer::play(const DeviceAdded& input, Time at) {
  if (told_ != nullptr) {
    told_->add_device(input.device, at);
  }
  return {};
}

Result<void> JournalPlayer::play(const Stepped&, Time at) {
  if (told_ == nullptr) {
    return {};
  }
  actions_ = told_->step(at);
  for (const Action& action : actions_) {
    if (const auto* ended = std::get_if<JobEnded>(&action)) {
      told_->forget(ended->job);
    }
  }
  return {};
}

/// All others are told as they are.
template <class Input>
Result<void> JournalPlayer::play(const Input& input, Time at) {
  if (told_ == nullptr) {
    return {};
  }
  if (!makes_sense(input)) {
    return nonsense();
  }
  if constexpr (std::is_same_v<decltype(told_->tell(input, at)), void>) {
    told_->tell(input, at);
    return {};
  } else {
    const Result<void> done = told_->tell(input, at);
    refusal_ = done ? "" : done.error().message;
    return {};
  }
}

// --- a scheduler that is told what cannot be ends the program

bool JournalPlayer::is_there(DeviceId device) const {
  return device.value < told_->get().devices().size();
}

bool JournalPlayer::has_devices(JobId id) const {
  const Job* job = told_->get().find(id);
  return job != nullptr && job->lease() != nullptr;
}

bool JournalPlayer::is_starting(JobId id) const {
  const Job* job = told_->get().find(id);
  return job != nullptr && std::holds_alternative<Starting>(job->state);
}

bool JournalPlayer::has_room(JobId first, std::uint64_t jobs) const {
  const Scheduler& scheduler = told_->get();
  return is_number(first, jobs) &&
         scheduler.waiting() + scheduler.running().size() + jobs <= kMostJobs;
}

template <class Input>
bool JournalPlayer::makes_sense(const Input& input) const {
  if constexpr (std::is_same_v<Input, JobStarted>) {
    return is_starting(input.job);
  } else if constexpr (std::is_same_v<Input, JobExited> || std::is_same_v<Input, JobLost>) {
    return has_devices(input.job);
  } else if constexpr (std::is_same_v<Input, JobUse>) {
    return has_devices(input.job) && is_there(input.device);
  } else if constexpr (std::is_same_v<Input, StartRefused>) {
    return is_starting(input.job) &&
           std::all_of(input.taken.begin(), input.taken.end(),
                       [this](DeviceId device) { return is_there(device); });
  } else if constexpr (requires { input.device; }) {
    return is_there(input.device);
  } else {
    return true;
  }
}

}  // namespace berth
