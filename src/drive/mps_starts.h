// MpsStarts: starts attempts that run through MPS, when the control daemon of their device and user
// answers. Owned by the driver's thread. Nothing is opened before a job asks for MPS.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/scheduler.h"
#include "drive/host.h"
#include "gpu/mps/mps.h"

namespace berth {

class MpsStarts {
 public:
  struct Calls {
    std::function<void(const StartJob&)> launch;                      // its control daemon answers
    std::function<void(const StartJob&, const std::string&)> failed;  // with the reason
    std::function<void(JobId, const std::string&)> not_used;  // it runs, but not through MPS
  };
  MpsStarts(Mps::Owner owner, Host& host, Calls calls);

  /// Settles which user's MPS a job needs. Fails if there is no MPS.
  Result<void> settle(Needs& needs, uid_t user);

  /// Launches the attempt, now or when its control daemon answers, or reports that it failed.
  void launch(const StartJob& start, const DeviceInfo& device, const Needs& needs);
  /// A job of an earlier process goes on with the control daemon that it has.
  Result<void> adopt(JobId running, const DeviceInfo& device, const Needs& needs);
  /// Drops and returns the attempt if it still waits for its control daemon: it will not be
  /// launched.
  std::optional<StartJob> drop(JobId job);
  std::vector<StartJob> drop_all();
  void release(JobId job);
  /// The job holds memory on its device.
  void at_work(JobId job);
  /// Tells control daemons that no job uses any more to quit.
  void settle_unused();
  /// The same, including control daemons that an earlier process has left for these devices.
  void take_over(std::span<const DeviceInfo> devices);
  /// Waits until these control daemons have quit. Control daemons that jobs still use stay.
  void finish();

  EnvironmentChanges environment(const DeviceInfo& device, const Needs& needs) const;

 private:
  Mps& open();
  void take_events();
  void take(const MpsEvent& event, JobId job);

  Mps::Owner owner_;
  Host& host_;
  Calls calls_;
  std::unique_ptr<Mps> mps_;
  std::map<JobId, StartJob> waiting_;
};

}  // namespace berth
