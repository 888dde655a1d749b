#include "slurm/queue_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "slurm/slurm_words.h"

namespace berth {
namespace {

using std::chrono::seconds;

constexpr seconds kShortestPause(2);
constexpr seconds kLongestPause(15);

}  // namespace

void QueueWatch::ask_soon() {
  ask_by(means_.alarm.now() + seconds(2));
  means_.alarm.wake(next_);
}

void QueueWatch::note_trouble(std::string why) {
  trouble_ = std::move(why);
  ask_soon();
}

void QueueWatch::look() {
  if (looking_ || !books_.any_open()) {
    return;
  }
  const SlurmTime now = means_.alarm.now();
  if (now < next_ || now < last_ + kShortestPause) {
    return means_.alarm.wake(std::max(next_, last_ + kShortestPause));
  }
  last_ = now;
  looking_ = true;
  if (!inquire()) {
    means_.slurm.ask({"squeue", "--me", "--noheader", "--Format=" + std::string(kSqueueFormat)},
                     [this, now](const SlurmAnswer& answer) { take_queue(answer, now); });
  }
}

/// Whether the answer tells that the cluster cannot be reached.
bool QueueWatch::note_outage(const SlurmAnswer& answer, SlurmTime now) {
  if (!answer.ok()) {
    const std::string complaint = last_complaint(answer.errors);
    if (trouble_.empty()) {
      means_.log(fmt::format("the cluster does not answer: {}", complaint));
    }
    trouble_ = complaint.empty() ? "squeue did not answer in time" : complaint;
    next_ = now + kShortestPause;
    means_.alarm.wake(next_);
    return true;
  }
  if (!trouble_.empty()) {
    means_.log("the cluster answers again");
    trouble_.clear();
    pause_ = kShortestPause;
  }
  return false;
}

void QueueWatch::take_queue(const SlurmAnswer& answer, SlurmTime asked) {
  /// A call may take this part of the time, so that a long queue is asked for less often.
  constexpr int kCallPart = 100;
  constexpr std::chrono::minutes kMost(1);
  looking_ = false;
  const SlurmTime now = means_.alarm.now();
  last_ = now;
  if (note_outage(answer, now)) {
    return;
  }
  BatchBooks::Settled settled = books_.settle(read_squeue(answer.output), asked);
  for (std::string& id : settled.unwanted) {
    cancels_.add(std::move(id));
  }
  for (const std::string& folder : settled.confirmed) {
    means_.files.confirm(folder);
  }
  pause_ = std::clamp<SlurmTime::duration>(pause_ * 3 / 2, kShortestPause, kLongestPause);
  next_ = now + std::max(pause_, std::min<SlurmTime::duration>((now - asked) * kCallPart, kMost));
  if (books_.any_missing()) {
    next_ = now + kShortestPause;
  }
  means_.alarm.wake(next_);
}

/// Asks about jobs that are missing. False when there are none, or when the queue itself has its
/// turn.
bool QueueWatch::inquire() {
  inquired_ = !inquired_ && inquiry_.ask([this] {
    looking_ = false;
    last_ = means_.alarm.now();
    next_ = last_ + kShortestPause;
    means_.alarm.wake(next_);
  });
  return inquired_;
}

}  // namespace berth
