#include "daemon/start_room.h"

#include <algorithm>
#include <utility>

namespace berth {
namespace {

constexpr Duration kRoomRetry = std::chrono::seconds(1);

}  // namespace

bool StartRoom::is_there_for(const ShimLaunch& launch) {
  const bool own_log = launch.stdout_path.starts_with(files_.logs() + "/");
  if (own_log) {
    if (!files_.make_logs()) {
      log_.write("{} was gone: it was made anew", files_.logs());
    }
    (void)logs_.path_for(launch.user, launch.job, launch.attempt);  // makes its folder
  }
  if (files_.has_room(launch.user, own_log)) {
    return true;
  }
  log_.write("no room on the disk of {}: job {} waits for it", files_.folder(), launch.job.value);
  waiting_.insert(launch.job);
  due_ = std::min(due_, clock_.now() + kRoomRetry);
  return false;
}

std::set<JobId> StartRoom::take_due(Time at) {
  if (at < due_) {
    return {};
  }
  due_ = kNever;
  return std::exchange(waiting_, {});
}

}  // namespace berth
