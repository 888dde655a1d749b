// Handing jobs to Slurm. The folder of a batch is on disk before sbatch is asked, and tells a later
// process what may be under way. A second copy of a batch does no harm: see wrapper.h.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/failpoint.h"
#include "base/secret.h"
#include "base/text.h"
#include "slurm/slurm_target.h"
#include "slurm/slurm_words.h"

namespace berth {
namespace {

/// More at once would make a look at the records of one batch long.
constexpr std::size_t kLargestBatch = 5000;
constexpr std::chrono::seconds kTryAgain(5);

/// Variables that each job has for itself; the others are the same for many.
bool is_own(std::string_view variable) { return variable.starts_with("BERTH_"); }

WrappedJob wrapped(const ShimLaunch& launch) {
  WrappedJob job;
  job.job = launch.job.value;
  job.attempt = launch.attempt;
  job.command = launch.command;
  job.directory = launch.directory;
  job.output = launch.stdout_path;
  job.errors = launch.stderr_path;
  job.limit = launch.limit;
  job.sample = launch.whole_devices;
  std::copy_if(launch.environment.begin(), launch.environment.end(),
               std::back_inserter(job.variables), is_own);
  return job;
}

}  // namespace

/// Jobs with the same options and environment become one array.
void SlurmTarget::form_batches() {
  using Kind = std::pair<std::vector<std::string>, std::vector<std::string>>;
  std::map<Kind, std::vector<const ShimLaunch*>> kinds;
  for (const ShimLaunch& launch : gathered_) {
    Kind kind{launch.target_options, {}};
    std::remove_copy_if(launch.environment.begin(), launch.environment.end(),
                        std::back_inserter(kind.second), is_own);
    kinds[std::move(kind)].push_back(&launch);
  }
  const std::size_t most = std::clamp<std::size_t>(facts_.array_size, 2, kLargestBatch + 1) - 1;
  for (const auto& [kind, launches] : kinds) {
    for (std::size_t from = 0; from < launches.size(); from += most) {
      auto batch = std::make_unique<Batch>();
      batch->name = fmt::format("berth-{}-{}", mark_, random_name());
      batch->folder = settings_.folder + '/' + batch->name;
      batch->options = kind.first;
      batch->environment = kind.second;
      auto order = std::make_shared<BatchOrder>();
      order->options = kind.first;
      order->environment = kind.second;
      for (std::size_t i = from; i < std::min(from + most, launches.size()); ++i) {
        order->jobs.push_back(wrapped(*launches[i]));
        batch->elements.push_back(Element{launches[i]->job, launches[i]->attempt});
      }
      batch->open = batch->kept = batch->elements.size();
      for (std::uint32_t i = 0; i < batch->elements.size(); ++i) {
        keep_place(*batch, i);
      }
      Batch& made = *(batches_[batch->name] = std::move(batch));
      write(made, std::move(order));
    }
  }
  gathered_.clear();
}

void SlurmTarget::write(Batch& batch, std::shared_ptr<BatchOrder> order) {
  files_.add([this, name = batch.name, folder = batch.folder,
              order = std::move(order)]() -> Chores::Finish {
    const Result<void> written = write_batch(folder, *order);
    if (written) {
      scout_.add(folder);
    }
    return [this, name, order, problem = written ? "" : written.error().message] {
      Batch& late = *batches_.at(name);
      late.state = Batch::State::Ready;
      late.trouble = problem;
      if (!problem.empty()) {
        // The folder is full, or not there: it is tried again, by a look at the jobs that are due.
        late.state = Batch::State::Writing;
        late.retry = Clock::now() + kTryAgain;
        log(problem);
        return write_later(name, order);
      }
      for (std::uint32_t i = 0; i < late.elements.size(); ++i) {
        if (late.elements[i].stop) {
          stop(late.elements[i].job, *late.elements[i].stop);
        }
      }
    };
  });
}

/// Not at once: what is in the way will not have gone.
void SlurmTarget::write_later(const std::string& name, std::shared_ptr<BatchOrder> order) {
  unwritten_[name] = std::move(order);
  wake(batches_.at(name)->retry);
}

void SlurmTarget::send_ready(Clock::time_point now) {
  for (auto waiting = unwritten_.begin(); waiting != unwritten_.end();) {
    Batch& batch = *batches_.at(waiting->first);
    if (batch.retry > now) {
      wake(batch.retry);
      ++waiting;
      continue;
    }
    std::shared_ptr<BatchOrder> order = std::move(waiting->second);
    waiting = unwritten_.erase(waiting);
    write(batch, std::move(order));
  }
  if (!trouble_.empty()) {
    return;  // a look at the queue will tell when the cluster answers again
  }
  for (auto& [name, batch] : batches_) {
    if (batch->state != Batch::State::Ready) {
      continue;
    }
    if (batch->retry > now) {
      wake(batch->retry);
    } else {
      send(*batch);
    }
  }
}

void SlurmTarget::send(Batch& batch) {
  std::vector<std::uint32_t> indices;
  const bool some = std::any_of(batch.elements.begin(), batch.elements.end(),
                                [](const Element& each) { return each.missing.has_value(); });
  for (std::uint32_t i = 0; i < batch.elements.size(); ++i) {
    Element& element = batch.elements[i];
    // Of a batch that was sent before, those that are no longer in the queue.
    if (element.state == Element::State::Waits && !element.stop && (!some || element.missing)) {
      indices.push_back(i);
      element.id.clear();
    }
  }
  batch.state = Batch::State::Sending;
  if (indices.empty()) {
    batch.state = Batch::State::Sent;  // nobody wants it any more
    return drop_if_done(batch);
  }
  ++batch.send;
  std::vector<std::string> words = {"sbatch",
                                    "--parsable",
                                    "--job-name=" + batch.name,
                                    "--comment=" + batch.name,
                                    "--output=/dev/null",
                                    "--chdir=/",
                                    "--kill-on-invalid-dep=yes"};
  words.insert(words.end(), batch.options.begin(), batch.options.end());
  if (batch.elements.size() > 1) {
    words.push_back("--array=" + write_indices(indices));
  }
  SlurmCall made = call(std::move(words));
  made.environment = slurm_environment(batch.environment, settings_.conf);
  made.input = wrapper_script(batch.folder, batch.send);
  if (std::find(batch.options.begin(), batch.options.end(), "--requeue") != batch.options.end()) {
    made.input.insert(made.input.find('\n') + 1, "_b_again=1\n");
  }
  talk_.add([this, made = std::move(made), folder = batch.folder, send = batch.send,
             name = batch.name]() -> Chores::Finish {
    // That there may be a submission must be known before there is one.
    SlurmAnswer answer;
    if (const Result<void> noted = write_sent(folder, {send, ""}); !noted) {
      answer.errors = noted.error().message;
      return [this, name, answer] { sent(name, answer); };
    }
    (void)BERTH_FAILPOINT("slurm.before_sbatch");
    answer = run_(made, talk_.stop_fd());
    (void)BERTH_FAILPOINT("slurm.after_sbatch");
    if (answer.ok()) {
      std::string_view id = trim(answer.output);
      (void)write_sent(folder, {send, std::string(take_until(id, ';'))}).has_value();
    }
    return [this, name, answer] { sent(name, answer); };
  });
}

void SlurmTarget::sent(const std::string& name, const SlurmAnswer& answer) {
  Batch& batch = *batches_.at(name);
  const Clock::time_point now = Clock::now();
  batch.since = now;
  batch.trouble.clear();
  if (answer.ok()) {
    std::string_view id = trim(answer.output);
    batch.id = take_until(id, ';');
    batch.state = Batch::State::Sent;
    for (std::uint32_t i = 0; i < batch.elements.size(); ++i) {
      batch.elements[i].missing.reset();
      if (batch.elements[i].state == Element::State::Over) {
        cancel(batch, i, "");  // it was taken back meanwhile
      }
    }
    next_queue_ = std::min(next_queue_, now + std::chrono::seconds(2));
    return drop_if_done(batch);
  }
  const std::string complaint = last_complaint(answer.errors);
  if (answer.kind == SlurmAnswer::Kind::NotStarted) {
    // The folder cannot be written to, or sbatch is not there: nothing was submitted.
    batch.state = Batch::State::Ready;
    batch.retry = now + kTryAgain;
    batch.trouble = complaint;
    log(complaint);
    return wake(batch.retry);
  }
  if (answer.kind == SlurmAnswer::Kind::TimedOut ||
      problem_of(answer.errors) == SlurmProblem::Outage) {
    batch.state = Batch::State::Doubtful;
    trouble_ = complaint.empty() ? "sbatch did not answer in time" : complaint;
    log(fmt::format("a submission may have failed: {}", trouble_));
    next_queue_ = std::min(next_queue_, now + std::chrono::seconds(2));
    return wake(next_queue_);
  }
  refuse(batch, complaint);
}

/// Slurm will not have these jobs: it would say the same again.
void SlurmTarget::refuse(Batch& batch, const std::string& why) {
  log(fmt::format("Slurm refuses jobs: {}", why));
  batch.state = Batch::State::Sent;
  for (std::uint32_t i = 0; i < batch.elements.size(); ++i) {
    if (batch.elements[i].state == Element::State::Waits) {
      AttemptEnd over;
      over.kind = AttemptEnd::Kind::NotStarted;
      over.note = fmt::format("Slurm refuses it: {}", why);
      end(batch, i, std::move(over));
    }
  }
  drop_if_done(batch);
}

}  // namespace berth
