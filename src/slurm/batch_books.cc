#include "slurm/batch_books.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth {
namespace {

using std::chrono::seconds;

/// What Slurm has acknowledged may be lost in a crash for five seconds.
constexpr seconds kUntilSaved(6);
/// A record may come this much later than squeue's word that the job is gone.
constexpr seconds kRecordDelay(3);
/// A job that has been told to end is told again after this time.
constexpr seconds kTellAgain(5);

}  // namespace

std::string SlurmBatch::call_id(std::uint32_t index) const {
  const std::string& own = elements[index].id;
  const std::string& known = own.empty() ? id : own;
  return known.empty() || elements.size() == 1 ? known : fmt::format("{}_{}", known, index);
}

AttemptEnd end_by_record(const ExitRecord& record) {
  AttemptEnd over;
  over.kind = record.started ? AttemptEnd::Kind::Exited : AttemptEnd::Kind::NotStarted;
  over.signal = record.code > 128 && record.code <= 128 + 64 ? record.code - 128 : 0;
  over.code = over.signal == 0 ? record.code : 0;
  over.ended_at = record.ended;
  over.note = record.problem;
  over.peak = record.peak;
  over.energy = record.energy;
  return over;
}

SlurmBatch& BatchBooks::add(std::unique_ptr<SlurmBatch> batch) {
  batch->open = batch->kept = batch->elements.size();
  for (std::uint32_t i = 0; i < batch->elements.size(); ++i) {
    keep_place(*batch, i);
  }
  return *(batches_[batch->name] = std::move(batch));
}

SlurmBatch* BatchBooks::find(const std::string& name) const {
  const auto found = batches_.find(name);
  return found == batches_.end() ? nullptr : found->second.get();
}

BatchPlace BatchBooks::find(JobId job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? BatchPlace{} : found->second;
}

/// The newest attempt of a job is the one that counts.
void BatchBooks::keep_place(SlurmBatch& batch, std::uint32_t index) {
  BatchPlace place{&batch, index};
  BatchPlace& known = jobs_[place.element().job];
  if (known && known.element().attempt > place.element().attempt) {
    std::swap(known, place);
  }
  std::swap(known, place);
  if (place) {
    leave(*place.batch, place.index);
  }
}

/// Nobody asks about this attempt any more.
void BatchBooks::leave(SlurmBatch& batch, std::uint32_t index) {
  BatchElement& element = batch.elements[index];
  if (!element.is_over()) {
    element.state = BatchElement::State::Over;
    --batch.open;
  }
  if (!element.forgotten) {
    element.forgotten = true;
    --batch.kept;
  }
}

void BatchBooks::end(SlurmBatch& batch, std::uint32_t index, AttemptEnd over) {
  BatchElement& element = batch.elements[index];
  if (element.is_over()) {
    return;
  }
  element.state = BatchElement::State::Over;
  --batch.open;
  over.job = element.job;
  over.attempt = element.attempt;
  if (over.note.empty()) {
    over.note = element.note;
  }
  ends_.push_back(std::move(over));
}

void BatchBooks::forget(JobId job, std::uint16_t attempt) {
  const BatchPlace place = find(job);
  if (!place || place.element().attempt != attempt) {
    return;
  }
  leave(*place.batch, place.index);
  jobs_.erase(job);
  drop_if_done(*place.batch);
}

void BatchBooks::drop_if_done(SlurmBatch& batch) {
  if (batch.kept > 0 || batch.state == SlurmBatch::State::Writing ||
      batch.state == SlurmBatch::State::Sending) {
    return;
  }
  dropped_.push_back(batch.folder);
  batches_.erase(batches_.find(batch.name));
}

BatchBooks::Noted BatchBooks::note(SlurmBatch& batch, const RecordScout::Found& found,
                                   SlurmTime now) {
  Noted noted;
  if (found.index >= batch.elements.size() || batch.elements[found.index].is_over()) {
    return noted;
  }
  BatchElement& element = batch.elements[found.index];
  if (found.claim && found.claim->owner + '\n' == kWithdrawn) {
    if (!element.withdrawing) {  // by an earlier process
      AttemptEnd over;
      over.kind = AttemptEnd::Kind::Withdrawn;
      end(batch, found.index, std::move(over));
    }
    return noted;
  }
  if (found.claim) {
    element.state = BatchElement::State::Runs;
    element.node = found.claim->node;
    element.gpus = found.claim->gpus;
    element.id = found.claim->owner.substr(found.claim->owner.find('.') + 1);
    starts_.push_back({element.job, element.attempt, 0, ""});
    noted.cancel = element.stop.has_value();
  }
  if (found.exit) {
    AttemptEnd over = end_by_record(*found.exit);
    if (over.signal != 0 && !element.stop) {
      // Slurm may have sent it: its word on that is waited for.
      element.ended = std::move(over);
      element.missing = now;
      noted.ask = true;
    } else {
      end(batch, found.index, std::move(over));
    }
  }
  return noted;
}

// --- what squeue tells

BatchBooks::Settled BatchBooks::settle(const std::vector<SqueueRow>& rows, SlurmTime asked) {
  Settled settled;
  std::map<std::string_view, std::vector<const SqueueRow*>> by_name;
  for (const SqueueRow& row : rows) {
    if (row.name.starts_with(prefix_)) {
      by_name[row.name].push_back(&row);
      if (!batches_.contains(row.name)) {
        settled.unwanted.push_back(row.id);  // it came back after a crash of Slurm's
      }
    }
  }
  for (const auto& [name, batch] : batches_) {
    settle(*batch, by_name[name], asked, settled);
  }
  return settled;
}

void BatchBooks::settle(SlurmBatch& batch, const std::vector<const SqueueRow*>& rows,
                        SlurmTime asked, Settled& settled) {
  const bool saved = asked >= batch.since + kUntilSaved;
  if (batch.state == SlurmBatch::State::Doubtful && !rows.empty()) {
    batch.state = SlurmBatch::State::Sent;
    batch.id = rows.front()->id;
    batch.since = asked;
  } else if (batch.state == SlurmBatch::State::Doubtful && saved) {
    batch.state = SlurmBatch::State::Ready;  // jobs of it that started all the same are claimed
    batch.retry = {};
  }
  if (batch.state != SlurmBatch::State::Sent) {
    return;
  }
  std::vector<bool> seen(batch.elements.size(), false);
  for (const SqueueRow* row : rows) {
    settle_row(batch, *row, asked, seen, settled);
  }
  if (!rows.empty() && saved && !batch.confirmed) {
    batch.confirmed = true;
    settled.confirmed.push_back(batch.folder);
  }
  for (std::uint32_t i = 0; i < seen.size(); ++i) {
    BatchElement& element = batch.elements[i];
    if (element.is_over() || element.ended) {
      continue;
    }
    if (seen[i] || asked < batch.since) {
      element.found_again();
    } else if (!element.missing) {
      element.missing = asked;
    }
  }
}

void BatchBooks::settle_row(SlurmBatch& batch, const SqueueRow& row, SlurmTime asked,
                            std::vector<bool>& seen, Settled& settled) {
  using Ranges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  for (const auto& [first, last] : row.elements.empty() ? Ranges{{0, 0}} : row.elements) {
    for (std::uint32_t i = first; i <= last && i < seen.size(); ++i) {
      seen[i] = true;
      BatchElement& element = batch.elements[i];
      element.id = row.id;
      element.reason = element.state == BatchElement::State::Waits ? row.reason : "";
      const bool again =
          (element.stop && asked - element.told_to_stop > kTellAgain) || element.is_over();
      if (again) {
        element.told_to_stop = asked;
        settled.unwanted.push_back(batch.call_id(i));
      }
    }
  }
}

bool BatchBooks::any_open() const {
  return std::any_of(batches_.begin(), batches_.end(), [](const auto& each) {
    return each.second->open > 0 || each.second->state == SlurmBatch::State::Doubtful;
  });
}

bool BatchBooks::any_missing() const {
  return std::any_of(batches_.begin(), batches_.end(), [](const auto& each) {
    return each.second->state == SlurmBatch::State::Doubtful ||
           std::any_of(
               each.second->elements.begin(), each.second->elements.end(),
               [](const BatchElement& element) { return element.missing && !element.is_over(); });
  });
}

std::vector<BatchBooks::Name> BatchBooks::missing(SlurmTime now, std::size_t most) const {
  std::vector<Name> found;
  for (const auto& [name, batch] : batches_) {
    for (std::uint32_t i = 0; i < batch->elements.size() && found.size() < most; ++i) {
      const BatchElement& element = batch->elements[i];
      const bool due = element.ended || (element.missing && now - *element.missing >= kRecordDelay);
      if (due && !element.is_over() && !element.judged && !batch->call_id(i).empty()) {
        found.emplace_back(name, i);
      }
    }
  }
  return found;
}

}  // namespace berth
