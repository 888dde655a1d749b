// Whole devices are found by counting; this must give what looking at each of them gives.
#include <gtest/gtest.h>

#include "base/random.h"
#include "core/device_table.h"

namespace berth {
namespace {

TEST(IdleIndex, AgreesWithLookingAtEachDevice) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    DeviceTable table({});
    const std::uint64_t nodes = 1 + random.below(5);
    for (std::uint64_t node = 0; node < nodes; ++node) {
      for (std::uint64_t n = 1 + random.below(40); n > 0; --n) {
        DeviceSpec spec;
        spec.name = std::to_string(table.size());
        spec.memory = gibibytes(8);
        spec.locality.node = static_cast<std::uint16_t>(node);
        table.add(spec);
      }
    }
    // A device that does not exist: nothing is lost by avoiding it, but all are looked at.
    const std::vector<DeviceId> nobody = {DeviceId{1'000'000}};
    std::vector<std::pair<JobId, std::vector<DeviceId>>> leases;
    for (std::uint64_t i = 1; i < 300; ++i) {
      Needs needs;
      needs.gpus = static_cast<std::uint32_t>(1 + random.below(random.below(4) == 0 ? 60 : 9));
      const auto placement = static_cast<Placement>(random.below(5));
      const auto found = table.place(needs, placement);
      EXPECT_EQ(found, table.place(needs, placement, nobody)) << "seed " << seed << " step " << i;
      if (found) {
        if (random.below(6) == 0) {
          needs.share = 500;  // not idle, though there is room
        }
        table.lease(JobId{i}, needs, *found);
        leases.emplace_back(JobId{i}, *found);
      }
      if (!leases.empty() && random.below(2) == 0) {
        const std::size_t which = random.below(leases.size());
        table.release(leases[which].first, leases[which].second);
        leases.erase(leases.begin() + static_cast<std::ptrdiff_t>(which));
      }
      const DeviceId device{static_cast<std::uint32_t>(random.below(table.size()))};
      switch (random.below(12)) {
        case 0:
          table.set_health(device, static_cast<DeviceHealth>(random.below(4)));
          break;
        case 1:
          table.set_foreign(device, gibibytes(static_cast<std::int64_t>(random.below(6))));
          break;
        case 2:
          table.set_taken(device, random.below(2) == 0 && table[device].leases.empty());
          break;
        default:
          break;
      }
      std::size_t serving = 0;
      for (const DeviceSlot& slot : table.all()) {
        serving += slot.health == DeviceHealth::Ok && !slot.taken ? 1 : 0;
      }
      EXPECT_EQ(table.serving(), serving);
    }
  }
}

}  // namespace
}  // namespace berth
