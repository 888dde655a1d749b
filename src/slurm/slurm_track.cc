// Following jobs in a cluster: their own records often, because a look at them costs little, and
// squeue no more often than every two seconds, for all jobs at once.
#include <fmt/format.h>

#include <algorithm>

#include "slurm/slurm_target.h"
#include "slurm/slurm_words.h"

namespace berth {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kRecordsPause(300);
constexpr milliseconds kLongestRecordsPause(900);
constexpr seconds kShortestPause(2);
constexpr seconds kLongestPause(15);
/// A call may take this part of the time, so that a long queue is asked for less often.
constexpr int kCallPart = 100;
/// What Slurm has acknowledged may be lost in a crash for five seconds.
constexpr seconds kUntilSaved(6);
/// A record may come this much later than squeue's word that the job is gone.
constexpr seconds kRecordDelay(3);
constexpr seconds kFactsPause(60);
constexpr std::size_t kAskedAtOnce = 50;

}  // namespace

void SlurmTarget::look_at_records(Clock::time_point now) {
  if (looking_at_records_) {
    return;
  }
  if (now < next_records_) {
    return wake(next_records_);
  }
  looking_at_records_ = true;
  files_.add([this]() -> Chores::Finish {
    const Clock::time_point began = Clock::now();
    std::vector<RecordScout::Found> found = scout_.look();
    const Clock::duration took = Clock::now() - began;
    return [this, found = std::move(found), took] {
      looking_at_records_ = false;
      next_records_ = Clock::now() + std::clamp<Clock::duration>(took * kCallPart, kRecordsPause,
                                                                 kLongestRecordsPause);
      take_records(found);
    };
  });
}

void SlurmTarget::take_records(const std::vector<RecordScout::Found>& all) {
  for (const RecordScout::Found& found : all) {
    const auto batch = batches_.find(found.folder.substr(found.folder.rfind('/') + 1));
    if (batch == batches_.end() || found.index >= batch->second->elements.size()) {
      continue;
    }
    Element& element = batch->second->elements[found.index];
    if (element.state == Element::State::Over) {
      continue;
    }
    if (found.claim && found.claim->owner + '\n' == kWithdrawn) {
      if (!element.withdrawing) {  // by an earlier process
        AttemptEnd over;
        over.kind = AttemptEnd::Kind::Withdrawn;
        end(*batch->second, found.index, std::move(over));
      }
      continue;
    }
    if (found.claim) {
      element.state = Element::State::Runs;
      element.node = found.claim->node;
      element.gpus = found.claim->gpus;
      element.id = found.claim->owner.substr(found.claim->owner.find('.') + 1);
      starts_.push_back({element.job, element.attempt, 0, ""});
      if (element.stop) {
        cancel(*batch->second, found.index, "");
      }
      wake(Clock::now());
    }
    if (found.exit) {
      AttemptEnd over;
      over.kind = found.exit->started ? AttemptEnd::Kind::Exited : AttemptEnd::Kind::NotStarted;
      const int code = found.exit->code;
      over.signal = code > 128 && code <= 128 + 64 ? code - 128 : 0;
      over.code = over.signal == 0 ? code : 0;
      over.ended_at = found.exit->ended;
      over.note = found.exit->problem;
      over.peak = found.exit->peak;
      over.energy = found.exit->energy;
      if (over.signal != 0 && !element.stop) {
        // Slurm may have sent it: its word on that is waited for.
        element.ended = std::move(over);
        element.missing = Clock::now();
        next_queue_ = std::min(next_queue_, Clock::now());
        continue;
      }
      end(*batch->second, found.index, std::move(over));
    }
  }
}

void SlurmTarget::look_at_queue(Clock::time_point now) {
  if (looking_at_queue_) {
    return;
  }
  const bool open = std::any_of(batches_.begin(), batches_.end(), [](const auto& each) {
    return each.second->open > 0 || each.second->state == Batch::State::Doubtful;
  });
  if (!open) {
    return;
  }
  if (now < next_queue_ || now < last_call_ + kShortestPause) {
    return wake(std::max(next_queue_, last_call_ + kShortestPause));
  }
  last_call_ = now;
  looking_at_queue_ = true;
  if (ask_for_missing(now)) {
    return;
  }
  ask({"squeue", "--me", "--noheader", "--Format=" + std::string(kSqueueFormat)},
      [this, now](const SlurmAnswer& answer) { take_queue(answer, now); });
}

void SlurmTarget::take_queue(const SlurmAnswer& answer, Clock::time_point asked) {
  looking_at_queue_ = false;
  const Clock::time_point now = Clock::now();
  last_call_ = now;
  if (!answer.ok()) {
    const std::string complaint = last_complaint(answer.errors);
    if (trouble_.empty()) {
      log(fmt::format("the cluster does not answer: {}", complaint));
    }
    trouble_ = complaint.empty() ? "squeue did not answer in time" : complaint;
    next_queue_ = now + kShortestPause;
    return wake(next_queue_);
  }
  if (!trouble_.empty()) {
    log("the cluster answers again");
    trouble_.clear();
    queue_pause_ = kShortestPause;
  }
  const std::vector<SqueueRow> rows = read_squeue(answer.output);
  std::map<std::string_view, std::vector<const SqueueRow*>> by_name;
  const std::string prefix = fmt::format("berth-{}-", mark_);
  for (const SqueueRow& row : rows) {
    if (row.name.starts_with(prefix)) {
      by_name[row.name].push_back(&row);
      if (!batches_.contains(row.name)) {
        cancels_[""].push_back(row.id);  // it came back after a crash of Slurm's, and is not wanted
      }
    }
  }
  for (auto& [name, batch] : batches_) {
    settle_batch(*batch, by_name[name], asked);
  }
  queue_pause_ = std::clamp<Clock::duration>(queue_pause_ * 3 / 2, kShortestPause, kLongestPause);
  next_queue_ = now + std::max(queue_pause_, (now - asked) * kCallPart);
  if (any_missing()) {
    next_queue_ = now + kShortestPause;
  }
  wake(next_queue_);
}

/// What squeue tells of one batch.
void SlurmTarget::settle_batch(Batch& batch, const std::vector<const SqueueRow*>& rows,
                               Clock::time_point asked) {
  const bool saved = asked >= batch.since + kUntilSaved;
  if (batch.state == Batch::State::Doubtful && !rows.empty()) {
    batch.state = Batch::State::Sent;
    batch.id = rows.front()->id;
    batch.since = asked;
  } else if (batch.state == Batch::State::Doubtful && saved) {
    batch.state = Batch::State::Ready;  // jobs of it that started all the same are claimed
    batch.retry = {};
    wake(Clock::now());
  }
  if (batch.state != Batch::State::Sent) {
    return;
  }
  std::vector<bool> seen(batch.elements.size(), false);
  for (const SqueueRow* row : rows) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges = row->elements;
    if (ranges.empty()) {
      ranges.emplace_back(0, 0);
    }
    for (const auto& [first, last] : ranges) {
      for (std::uint32_t i = first; i <= last && i < seen.size(); ++i) {
        seen[i] = true;
        Element& element = batch.elements[i];
        element.id = row->id;
        element.reason = element.state == Element::State::Waits ? row->reason : "";
        const bool again = (element.stop && asked - element.told_to_stop > seconds(5)) ||
                           element.state == Element::State::Over;
        if (again) {
          element.told_to_stop = asked;
          cancel(batch, i, "");
        }
      }
    }
  }
  if (!rows.empty() && saved && !batch.confirmed) {
    batch.confirmed = true;
    files_.add([folder = batch.folder]() -> Chores::Finish {
      write_confirmed(folder);
      return {};
    });
  }
  for (std::uint32_t i = 0; i < seen.size(); ++i) {
    Element& element = batch.elements[i];
    if (element.state == Element::State::Over || element.ended) {
      continue;
    }
    if (seen[i] || asked < batch.since) {
      element.missing.reset();
    } else if (!element.missing) {
      element.missing = asked;
    }
  }
}

/// Whether something hangs on the next answer.
bool SlurmTarget::any_missing() const {
  return std::any_of(batches_.begin(), batches_.end(), [](const auto& each) {
    return each.second->state == Batch::State::Doubtful ||
           std::any_of(each.second->elements.begin(), each.second->elements.end(),
                       [](const Element& element) {
                         return element.missing && element.state != Element::State::Over;
                       });
  });
}

/// Asks what became of jobs that are no longer in the queue and have left no record. False when
/// there are none.
bool SlurmTarget::ask_for_missing(Clock::time_point now) {
  std::vector<std::pair<std::string, std::uint32_t>> asked;
  std::string ids;
  for (const auto& [name, batch] : batches_) {
    for (std::uint32_t i = 0; i < batch->elements.size() && asked.size() < kAskedAtOnce; ++i) {
      Element& element = batch->elements[i];
      const bool due = element.ended || (element.missing && now - *element.missing >= kRecordDelay);
      if (element.state == Element::State::Over || !due || element.judged ||
          call_id(*batch, i).empty()) {
        continue;
      }
      element.judged = true;
      asked.emplace_back(name, i);
      ids += (ids.empty() ? "" : ",") + call_id(*batch, i);
    }
  }
  if (asked.empty() || asked_last_) {
    asked_last_ = false;
    for (const auto& [name, index] : asked) {
      batches_.at(name)->elements[index].judged = false;
    }
    return false;  // the queue itself has its turn
  }
  asked_last_ = true;
  ask({"squeue", "--me", "--noheader", "--states=all", "--jobs=" + ids,
       "--Format=" + std::string(kSqueueFormat)},
      [this, asked](const SlurmAnswer& answer) { take_missing(asked, answer); });
  return true;
}

void SlurmTarget::take_missing(const std::vector<std::pair<std::string, std::uint32_t>>& asked,
                               const SlurmAnswer& answer) {
  looking_at_queue_ = false;
  last_call_ = Clock::now();
  next_queue_ = Clock::now() + kShortestPause;
  wake(next_queue_);
  // An unknown number alone is an error to squeue.
  const bool none = !answer.ok() && answer.errors.find("Invalid job id") != std::string::npos;
  const std::vector<SqueueRow> rows =
      answer.ok() ? read_squeue(answer.output) : std::vector<SqueueRow>();
  for (const auto& [name, index] : asked) {
    const auto found = batches_.find(name);
    if (found == batches_.end()) {
      continue;
    }
    Batch& batch = *found->second;
    batch.elements[index].judged = false;
    if (!answer.ok() && !none) {
      continue;  // the cluster does not answer: later
    }
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const SqueueRow& each) {
      return each.name == name &&
             (each.elements.empty() ||
              std::any_of(each.elements.begin(), each.elements.end(), [&](const auto& range) {
                return range.first <= index && index <= range.second;
              }));
    });
    if (batch.elements[index].state != Element::State::Over) {
      judge(batch, index, row == rows.end() ? nullptr : &*row);
    }
  }
}

void SlurmTarget::learn_facts(Clock::time_point now) {
  if (learning_ || now < next_facts_) {
    return;
  }
  learning_ = true;
  next_facts_ = now + (facts_.known() ? kFactsPause : seconds(5));
  ask({"scontrol", "--oneliner", "--details", "show", "nodes"}, [this](const SlurmAnswer& nodes) {
    if (!nodes.ok()) {
      learning_ = false;
      return;
    }
    facts_.nodes = read_nodes(nodes.output);
    ask({"scontrol", "--oneliner", "show", "partition"}, [this](const SlurmAnswer& partitions) {
      facts_.partitions = partitions.ok() ? read_partitions(partitions.output) : facts_.partitions;
      ask({"scontrol", "show", "config"}, [this](const SlurmAnswer& config) {
        learning_ = false;
        if (config.ok()) {
          read_config(config.output, facts_);
        }
      });
    });
  });
}

}  // namespace berth
