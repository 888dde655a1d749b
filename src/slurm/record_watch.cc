#include "slurm/record_watch.h"

#include <algorithm>

namespace berth {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds kRecordsPause(300);
constexpr milliseconds kLongestRecordsPause(900);
constexpr int kLookPart = 100;  // looks may take this part of the time

}  // namespace

void RecordWatch::look() {
  if (looking_) {
    return;
  }
  if (means_.alarm.now() < next_) {
    return means_.alarm.wake(next_);
  }
  looking_ = true;
  means_.files.look([this](const BatchFiles::Records& records, nanoseconds took) {
    looking_ = false;
    next_ = means_.alarm.now() +
            std::clamp<nanoseconds>(took * kLookPart, kRecordsPause, kLongestRecordsPause);
    take(records);
  });
}

void RecordWatch::take(const BatchFiles::Records& records) {
  for (const RecordScout::Found& found : records) {
    SlurmBatch* const batch = books_.find(found.folder.substr(found.folder.rfind('/') + 1));
    if (batch == nullptr) {
      continue;
    }
    const BatchBooks::Noted noted = books_.note(*batch, found, means_.alarm.now());
    if (noted.cancel) {
      cancels_.add(*batch, found.index);
    }
    if (noted.ask) {
      queue_.ask_by(means_.alarm.now());
    }
    means_.alarm.wake();
  }
}

}  // namespace berth
