#include "slurm/batch_sender.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/secret.h"
#include "slurm/slurm_words.h"

namespace berth {
namespace {

/// How long starts are gathered for one array.
constexpr std::chrono::milliseconds kGather(20);
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

/// Of a batch that was sent before, those that are no longer in the queue.
std::vector<std::uint32_t> to_send(const SlurmBatch& batch) {
  std::vector<std::uint32_t> indices;
  const bool some = std::any_of(batch.elements.begin(), batch.elements.end(),
                                [](const BatchElement& each) { return each.missing.has_value(); });
  for (std::uint32_t i = 0; i < batch.elements.size(); ++i) {
    const BatchElement& element = batch.elements[i];
    if (element.state == BatchElement::State::Waits && !element.stop &&
        (!some || element.missing)) {
      indices.push_back(i);
    }
  }
  return indices;
}

}  // namespace

BatchSender::BatchSender(SlurmMeans& means, BatchBooks& books, Scancels& cancels, Stopper& stopper,
                         QueueWatch& queue, const ClusterFacts& facts)
    : means_(means),
      books_(books),
      cancels_(cancels),
      stopper_(stopper),
      queue_(queue),
      facts_(facts) {}

void BatchSender::start(const ShimLaunch& launch) {
  if (gathered_.empty()) {
    gather_until_ = means_.alarm.now() + kGather;
    means_.alarm.wake(gather_until_);
  }
  gathered_.push_back(launch);
}

bool BatchSender::has(JobId job) const {
  return std::any_of(gathered_.begin(), gathered_.end(),
                     [&](const ShimLaunch& each) { return each.job == job; });
}

std::optional<std::uint16_t> BatchSender::take_back(JobId job) {
  const auto found = std::find_if(gathered_.begin(), gathered_.end(),
                                  [&](const ShimLaunch& each) { return each.job == job; });
  if (found == gathered_.end()) {
    return std::nullopt;
  }
  const std::uint16_t attempt = found->attempt;
  gathered_.erase(found);
  return attempt;
}

// --- batches and their folders

void BatchSender::form() {
  using Kind = std::pair<std::vector<std::string>, std::vector<std::string>>;
  if (gathered_.empty()) {
    return;
  }
  if (gather_until_ > means_.alarm.now()) {
    return means_.alarm.wake(gather_until_);
  }
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
      const std::size_t to = std::min(from + most, launches.size());
      form_batch(launches.data() + from, launches.data() + to, kind.second);
    }
  }
  gathered_.clear();
}

void BatchSender::form_batch(const ShimLaunch* const* first, const ShimLaunch* const* last,
                             std::vector<std::string> environment) {
  auto batch = std::make_unique<SlurmBatch>();
  batch->name = books_.prefix() + random_name();
  batch->folder = means_.settings.folder + '/' + batch->name;
  batch->options = (*first)->target_options;
  batch->environment = std::move(environment);
  auto order = std::make_shared<BatchOrder>();
  order->options = batch->options;
  order->environment = batch->environment;
  for (; first != last; ++first) {
    order->jobs.push_back(wrapped(**first));
    batch->elements.push_back(BatchElement{(*first)->job, (*first)->attempt});
  }
  write(books_.add(std::move(batch)), std::move(order));
}

void BatchSender::write(const SlurmBatch& batch, std::shared_ptr<const BatchOrder> order) {
  means_.files.write(batch.folder, order,
                     [this, name = batch.name, order](const std::string& problem) {
                       written(*books_.find(name), order, problem);
                     });
}

void BatchSender::written(SlurmBatch& batch, std::shared_ptr<const BatchOrder> order,
                          const std::string& problem) {
  batch.trouble = problem;
  if (!problem.empty()) {
    // The folder is full, or not there. Not at once: what is in the way will not have gone.
    batch.retry = means_.alarm.now() + kTryAgain;
    means_.log(problem);
    unwritten_[batch.name] = std::move(order);
    return means_.alarm.wake(batch.retry);
  }
  batch.state = SlurmBatch::State::Ready;
  for (const BatchElement& element : batch.elements) {
    if (element.stop) {
      stopper_.stop(element.job, *element.stop);
    }
  }
}

void BatchSender::write_again() {
  const SlurmTime now = means_.alarm.now();
  for (auto waiting = unwritten_.begin(); waiting != unwritten_.end();) {
    const SlurmBatch& batch = *books_.find(waiting->first);
    if (batch.retry > now) {
      means_.alarm.wake(batch.retry);
      ++waiting;
      continue;
    }
    std::shared_ptr<const BatchOrder> order = std::move(waiting->second);
    waiting = unwritten_.erase(waiting);
    write(batch, std::move(order));
  }
}

// --- sbatch

void BatchSender::send() {
  write_again();
  if (!queue_.trouble().empty()) {
    return;  // a look at the queue will tell when the cluster answers again
  }
  const SlurmTime now = means_.alarm.now();
  std::vector<SlurmBatch*> ready;
  for (const auto& [name, batch] : books_.batches()) {
    if (batch->state == SlurmBatch::State::Ready && batch->retry > now) {
      means_.alarm.wake(batch->retry);
    } else if (batch->state == SlurmBatch::State::Ready) {
      ready.push_back(batch.get());
    }
  }
  for (SlurmBatch* const batch : ready) {
    send(*batch);
  }
}

void BatchSender::send(SlurmBatch& batch) {
  const std::vector<std::uint32_t> indices = to_send(batch);
  if (indices.empty()) {
    batch.state = SlurmBatch::State::Sent;  // nobody wants it any more
    return books_.drop_if_done(batch);
  }
  for (const std::uint32_t index : indices) {
    batch.elements[index].id.clear();
    batch.elements[index].accounted.reset();
  }
  batch.state = SlurmBatch::State::Sending;
  ++batch.send;
  means_.slurm.submit(batch, indices, [this, name = batch.name](const SlurmAnswer& answer) {
    sent(*books_.find(name), answer);
  });
}

void BatchSender::sent(SlurmBatch& batch, const SlurmAnswer& answer) {
  batch.since = means_.alarm.now();
  batch.trouble.clear();
  if (answer.ok()) {
    return accepted(batch, answer);
  }
  const std::string complaint = last_complaint(answer.errors);
  if (answer.kind == SlurmAnswer::Kind::NotStarted) {
    // The folder cannot be written to, or sbatch is not there: nothing was submitted.
    batch.state = SlurmBatch::State::Ready;
    batch.retry = batch.since + kTryAgain;
    batch.trouble = complaint;
    means_.log(complaint);
    return means_.alarm.wake(batch.retry);
  }
  if (answer.kind == SlurmAnswer::Kind::TimedOut ||
      problem_of(answer.errors) == SlurmProblem::Outage) {
    batch.state = SlurmBatch::State::Doubtful;
    queue_.note_trouble(complaint.empty() ? "sbatch did not answer in time" : complaint);
    return means_.log(fmt::format("a submission may have failed: {}", queue_.trouble()));
  }
  refused(batch, complaint);
}

void BatchSender::accepted(SlurmBatch& batch, const SlurmAnswer& answer) {
  batch.id = number_in_answer(answer);
  batch.state = SlurmBatch::State::Sent;
  for (std::uint32_t i = 0; i < batch.elements.size(); ++i) {
    batch.elements[i].found_again();
    if (batch.elements[i].is_over()) {
      cancels_.add(batch, i);  // it was taken back meanwhile
    }
  }
  queue_.ask_soon();
  books_.drop_if_done(batch);
}

/// Slurm will not have these jobs: it would say the same again.
void BatchSender::refused(SlurmBatch& batch, const std::string& why) {
  means_.log(fmt::format("Slurm refuses jobs: {}", why));
  batch.state = SlurmBatch::State::Sent;
  for (std::uint32_t i = 0; i < batch.elements.size(); ++i) {
    if (batch.elements[i].state == BatchElement::State::Waits) {
      AttemptEnd over;
      over.kind = AttemptEnd::Kind::NotStarted;
      over.note = fmt::format("Slurm refuses it: {}", why);
      books_.end(batch, i, std::move(over));
    }
  }
  means_.alarm.wake();
  books_.drop_if_done(batch);
}

}  // namespace berth
