#include "gpu/devices.h"

#include "gpu/sim_devices.h"
#include "gpu/trusted.h"
#include "gpu/visibility.h"

namespace berth {

Result<std::unique_ptr<Devices>> open_devices(std::string_view gpus) {
  const std::vector<std::string_view> ids = split_ids(gpus);
  if (ids.size() == 1 && is_sim_spec(ids.front())) {
    return open_simulated(ids.front());
  }
  return open_trusted(ids);
}

}  // namespace berth
