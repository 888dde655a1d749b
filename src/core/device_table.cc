#include "core/device_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

#include "base/check.h"
#include "core/fragmentation.h"

namespace berth {
namespace {

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

bool named(const DeviceSpec& spec, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name == spec.name || (!spec.uuid.empty() && name == spec.uuid);
  });
}

/// A device's neighbourhoods, from the nearest outwards; devices of equal key are neighbours.
std::tuple<int, int, int> neighbourhood(const Locality& at, int level) {
  switch (level) {
    case 0:
      return {at.node, at.numa, at.island};
    case 1:
      return {at.node, at.numa, -1};
    case 2:
      return {at.node, -1, -1};
    default:
      return {-1, -1, -1};
  }
}

constexpr int kNeighbourhoodLevels = 4;

/// A device that fits, with what placement weighs: lower `score` is taken first.
struct Candidate {
  DeviceId id;
  bool preferred;
  std::int64_t score;
};

bool better(const Candidate& a, const Candidate& b) {
  return std::tuple(!a.preferred, a.score, a.id) < std::tuple(!b.preferred, b.score, b.id);
}

/// How much of the device, in thousandths, is free.
std::int64_t free_part(const DeviceSlot& slot) {
  std::int64_t share = kWholeShare;
  Bytes memory = slot.spec.memory - slot.foreign;
  for (const DeviceLease& lease : slot.leases) {
    share -= lease.alone ? kWholeShare : lease.share;
    memory -= lease.memory;
  }
  if (slot.spec.memory > Bytes{}) {
    share = std::min(
        share, memory.count / std::max<std::int64_t>(slot.spec.memory.count / kWholeShare, 1));
  }
  return std::max<std::int64_t>(share, 0);
}

/// `free_neighbours`: how many of the candidates share the device's island.
std::int64_t score(const DeviceSlot& slot, Placement placement, std::int64_t free_neighbours) {
  const auto loaded = static_cast<std::int64_t>(slot.leases.size());
  switch (placement) {
    case Placement::Pack:
      // A device that is shared already is used up before another is touched.
      return (loaded > 0 ? 0 : 1'000'000) + free_neighbours;
    case Placement::Spread:
      return loaded * 1'000'000 - free_neighbours;
    case Placement::LeastLoaded:
      return loaded;
    case Placement::BestFit: {
      if (slot.spec.memory == Bytes{}) {
        return free_part(slot);
      }
      Bytes left = slot.spec.memory - slot.foreign;
      for (const DeviceLease& lease : slot.leases) {
        left -= lease.held();
      }
      return left.count;
    }
    case Placement::Fgd:
      return free_part(slot);
    case Placement::Idle:
      return loaded == 0 ? free_neighbours
                         : loaded * 1'000'000'000 + (kWholeShare - free_part(slot)) * 100'000;
  }
  return 0;
}

/// Idle devices alone where they are enough, unless that would keep waiting jobs from the whole
/// devices that they want: then shared ones alone, where those are enough.
void keep_idle_or_shared(std::vector<Candidate>& candidates, std::span<const DeviceSlot> slots,
                         std::size_t count, bool spare_idle) {
  const auto wanted =
      std::stable_partition(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
        return candidate.preferred || slots[candidate.id.value].leases.empty() != spare_idle;
      });
  if (static_cast<std::size_t>(wanted - candidates.begin()) >= count) {
    candidates.erase(wanted, candidates.end());
  }
}

/// The candidate that Placement::Fgd chooses, or those of the machine that it chooses; all where
/// only several machines hold the job.
void keep_least_fragmenting(std::vector<Candidate>& candidates, const Needs& needs,
                            std::span<const DeviceSlot> slots, const NeedsMix& mix,
                            std::size_t largest_machine) {
  if (std::any_of(candidates.begin(), candidates.end(),
                  [](auto& each) { return each.preferred; })) {
    return;
  }
  std::vector<OpenDevice> devices;
  for (std::uint32_t i = 0; i < slots.size(); ++i) {
    const DeviceSlot& slot = slots[i];
    if (slot.health == DeviceHealth::Ok && !slot.taken) {
      devices.push_back({DeviceId{i}, slot.spec.locality.node, free_part(slot),
                         part_of(needs, slot.spec.memory), false});
    }
  }
  auto device = devices.begin();
  for (const Candidate& candidate : candidates) {  // both are in order of id
    device =
        std::find_if(device, devices.end(), [&](auto& each) { return each.id == candidate.id; });
    device->fits = true;
  }
  const auto chosen = least_fragmenting(std::move(devices), needs.gpus, mix, largest_machine);
  if (!chosen.empty()) {
    std::erase_if(candidates, [&](const Candidate& candidate) {
      return needs.gpus == 1 ? candidate.id != chosen[0].id
                             : slots[candidate.id.value].spec.locality.node != chosen[0].machine;
    });
  }
}

/// Several devices: the smallest neighbourhood that holds enough of them, nearest level first.
/// Nothing where that would be several machines although one could hold the job.
std::optional<std::vector<DeviceId>> choose_near(std::vector<Candidate> candidates,
                                                 std::size_t count, std::size_t largest_node,
                                                 std::span<const DeviceSlot> slots) {
  std::sort(candidates.begin(), candidates.end(), better);
  std::vector<Candidate> chosen;
  const int levels = count <= largest_node ? kNeighbourhoodLevels - 1 : kNeighbourhoodLevels;
  for (int level = 0; level < levels && chosen.empty(); ++level) {
    std::map<std::tuple<int, int, int>, std::vector<Candidate>> groups;
    for (const Candidate& candidate : candidates) {
      groups[neighbourhood(slots[candidate.id.value].spec.locality, level)].push_back(candidate);
    }
    for (const auto& [key, group] : groups) {
      if (group.size() >= count && (chosen.empty() || group.size() < chosen.size())) {
        chosen = group;
      }
    }
  }
  if (chosen.empty()) {
    return std::nullopt;
  }
  chosen.resize(count);
  std::vector<DeviceId> ids;
  ids.reserve(count);
  for (const Candidate& candidate : chosen) {
    ids.push_back(candidate.id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace

std::vector<std::string_view> placement_names() {
  // In the order of the enumerators.
  return {"pack", "bestfit", "leastloaded", "spread", "fgd", "idle"};
}

std::string_view placement_name(Placement placement) {
  return placement_names()[static_cast<std::size_t>(placement)];
}

Result<Placement> parse_placement(std::string_view name) {
  const std::vector<std::string_view> names = placement_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    return fail(ErrorCode::Usage, fmt::format("there is no placement '{}': choose one of {}", name,
                                              fmt::join(names, ", ")));
  }
  return static_cast<Placement>(found - names.begin());
}

DeviceId DeviceTable::add(DeviceSpec spec) {
  largest_memory_ = std::max(largest_memory_, spec.memory);
  slots_.push_back({std::move(spec), DeviceHealth::Ok, {}, false, {}});
  ++freed_;
  const DeviceId id{static_cast<std::uint32_t>(slots_.size() - 1)};
  idle_.add(slots_.back().spec.locality);
  ++serving_;
  ++present_;
  refresh(id);
  return id;
}

void DeviceTable::set_health(DeviceId id, DeviceHealth health) {
  DeviceSlot& slot = slots_[id.value];
  present_ += (health != DeviceHealth::Removed ? 1U : 0U);
  present_ -= (slot.health != DeviceHealth::Removed ? 1U : 0U);
  serving_ += (health == DeviceHealth::Ok && !slot.taken ? 1U : 0U);
  serving_ -= (slot.health == DeviceHealth::Ok && !slot.taken ? 1U : 0U);
  slot.health = health;
  ++freed_;
  refresh(id);
}

void DeviceTable::refresh(DeviceId id) {
  static const Needs kOneDevice;
  idle_.set_idle(id, fits(id, kOneDevice));
}

void DeviceTable::set_foreign(DeviceId id, Bytes foreign) {
  DeviceSlot& slot = slots_[id.value];
  if (foreign < slot.foreign) {
    ++freed_;
  }
  slot.foreign = foreign;
  refresh(id);
}

void DeviceTable::set_taken(DeviceId id, bool taken) {
  DeviceSlot& slot = slots_[id.value];
  if (slot.taken && !taken) {
    ++freed_;
  }
  serving_ += (slot.health == DeviceHealth::Ok && !taken ? 1U : 0U);
  serving_ -= (slot.health == DeviceHealth::Ok && !slot.taken ? 1U : 0U);
  slot.taken = taken;
  refresh(id);
}

bool DeviceTable::matches(const DeviceSlot& slot, const Needs& needs) const {
  if (slot.health == DeviceHealth::Removed) {
    return false;
  }
  if (!needs.model.empty() && !contains_ignoring_case(slot.spec.model, needs.model)) {
    return false;
  }
  if (!needs.only.empty() && !named(slot.spec, needs.only)) {
    return false;
  }
  return needs.exclude.empty() || !named(slot.spec, needs.exclude);
}

bool DeviceTable::fits_beside(DeviceId id, const Needs& needs,
                              std::span<const DeviceLease> leases) const {
  const DeviceSlot& slot = slots_[id.value];
  if (needs.alone() && !leases.empty()) {
    return false;
  }
  Bytes claimed = needs.memory;
  std::uint32_t share = needs.share;
  for (const DeviceLease& lease : leases) {
    // Programs inside and outside of MPS take turns on a device, and so do two users' MPS servers.
    if (lease.alone || lease.mps != needs.mps) {
      return false;
    }
    claimed += lease.held();
    share += lease.share;
  }
  if (share > kWholeShare) {
    return false;
  }
  if (slot.spec.memory == Bytes{}) {
    // Nobody knows how much there is: one claim at a time is all that is safe.
    return needs.memory == Bytes{} || claimed == needs.memory;
  }
  if (needs.memory > Bytes{}) {
    // The buffer is for what claims leave out; a job that is alone may take the whole device.
    const Bytes buffer = leases.empty() && slot.foreign == Bytes{} ? Bytes{} : limits_.buffer;
    return claimed + slot.foreign + buffer <= slot.spec.memory;
  }
  // A job without a claim cannot be weighed against foreign use; a desktop's own share is no
  // obstacle, a stranger's training job is.
  return slot.foreign.count <= slot.spec.memory.count / 4;
}

Bytes DeviceTable::most_room(std::span<const DeviceId> avoid) const {
  constexpr Bytes kUnknown{std::int64_t{1} << 62};
  Bytes most;
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    const DeviceSlot& slot = slots_[i];
    const bool alone = !slot.leases.empty() && slot.leases.front().alone;
    if (slot.health != DeviceHealth::Ok || slot.taken || alone ||
        std::find(avoid.begin(), avoid.end(), DeviceId{i}) != avoid.end()) {
      continue;
    }
    Bytes room = slot.spec.memory == Bytes{} ? kUnknown : slot.spec.memory;
    for (const DeviceLease& lease : slot.leases) {
      room = room - lease.held();
    }
    const bool shared = !slot.leases.empty() || slot.foreign > Bytes{};
    most = std::max(most, room - slot.foreign - (shared ? limits_.buffer : Bytes{}));
  }
  return most;
}

bool DeviceTable::fits(DeviceId id, const Needs& needs) const {
  const DeviceSlot& slot = slots_[id.value];
  return slot.health == DeviceHealth::Ok && !slot.taken && matches(slot, needs) &&
         fits_beside(id, needs, slot.leases);
}

bool DeviceTable::fits_but_for_mps(DeviceId id, const Needs& needs) const {
  const std::vector<DeviceLease>& leases = slots_[id.value].leases;
  if (leases.empty() || leases.front().mps == needs.mps) {
    return false;
  }
  Needs as_they_do = needs;
  as_they_do.mps = leases.front().mps;
  return fits(id, as_they_do);
}

bool DeviceTable::fits_when_empty(DeviceId id, const Needs& needs) const {
  const DeviceSlot& slot = slots_[id.value];
  return matches(slot, needs) && needs.share <= kWholeShare &&
         (slot.spec.memory == Bytes{} || needs.memory <= slot.spec.memory);
}

std::optional<std::vector<DeviceId>> DeviceTable::place(const Needs& needs, Placement placement,
                                                        std::span<const DeviceId> avoid,
                                                        std::size_t whole_wanted,
                                                        const NeedsMix* mix) const {
  if (needs.gpus == 0) {
    return cpu_free() ? std::optional(std::vector<DeviceId>{}) : std::nullopt;
  }
  if (needs.any_whole_device() && avoid.empty() && idle_.flat() &&
      needs.gpus <= idle_.largest_node() && placement != Placement::BestFit &&
      placement != Placement::Fgd) {
    return place_whole(needs.gpus, placement);
  }
  std::vector<Candidate> candidates;
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    const DeviceId id{i};
    if (fits(id, needs) && std::find(avoid.begin(), avoid.end(), id) == avoid.end()) {
      candidates.push_back({id, named(slots_[i].spec, needs.prefer), 0});
    }
  }
  if (candidates.size() < needs.gpus) {
    return std::nullopt;
  }
  if (placement == Placement::Idle) {
    keep_idle_or_shared(candidates, slots_, needs.gpus, idle_.count() < needs.gpus + whole_wanted);
  }
  std::map<std::tuple<int, int, int>, std::int64_t> free_in_island;
  if (placement == Placement::Pack || placement == Placement::Spread ||
      placement == Placement::Idle) {
    for (const Candidate& candidate : candidates) {
      ++free_in_island[neighbourhood(slots_[candidate.id.value].spec.locality, 0)];
    }
  }
  for (Candidate& candidate : candidates) {
    const DeviceSlot& slot = slots_[candidate.id.value];
    const auto island = free_in_island.find(neighbourhood(slot.spec.locality, 0));
    candidate.score = score(slot, placement, island == free_in_island.end() ? 0 : island->second);
  }
  if (placement == Placement::Fgd && mix != nullptr) {
    keep_least_fragmenting(candidates, needs, slots_, *mix, idle_.largest_node());
  }
  if (needs.gpus == 1) {
    return std::vector{std::min_element(candidates.begin(), candidates.end(), better)->id};
  }
  return choose_near(std::move(candidates), needs.gpus, idle_.largest_node(), slots_);
}

std::optional<bool> DeviceTable::has_room(const Needs& needs) const {
  if (needs.gpus == 0) {
    return cpu_free();
  }
  std::uint32_t found = 0;
  for (std::uint32_t i = 0; i < slots_.size() && found < needs.gpus; ++i) {
    found += fits(DeviceId{i}, needs) ? 1 : 0;
  }
  const bool on_one_machine = needs.gpus == 1 || idle_.largest_node() == slots_.size();
  return found < needs.gpus || on_one_machine ? std::optional(found == needs.gpus) : std::nullopt;
}

/// What place() finds for whole devices of one machine, without a look at each of them.
std::optional<std::vector<DeviceId>> DeviceTable::place_whole(std::uint32_t count,
                                                              Placement placement) const {
  using Choice = IdleIndex::Choice;
  Choice choice = Choice::Fullest;  // several are always placed so: see choose_near()
  if (count == 1 && placement != Placement::Pack && placement != Placement::Idle) {
    choice = placement == Placement::Spread ? Choice::Emptiest : Choice::First;
  }
  const int node = idle_.choose_node(count, choice);
  if (node < 0) {
    return std::nullopt;
  }
  return idle_.take(node, count);
}

std::optional<std::string> DeviceTable::impossible(const Needs& needs) const {
  if (needs.gpus == 0 || (needs.any_whole_device() && needs.gpus <= present_)) {
    return std::nullopt;
  }
  std::size_t matching = 0;
  std::size_t present = 0;
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    matching += fits_when_empty(DeviceId{i}, needs) ? 1 : 0;
    present += slots_[i].health != DeviceHealth::Removed ? 1 : 0;
  }
  if (matching >= needs.gpus) {
    return std::nullopt;
  }
  if (present == 0) {
    return fmt::format("needs {}, but there is no GPU here", describe(needs));
  }
  if (matching == present) {
    return fmt::format("needs {}, but there {} only {} here", describe(needs),
                       present == 1 ? "is" : "are", present);
  }
  return fmt::format("needs {}, but {} of the {} GPUs here could ever serve it", describe(needs),
                     matching == 0 ? std::string("none") : fmt::format("only {}", matching),
                     present);
}

void DeviceTable::set_used(JobId job, DeviceId device, Bytes used) {
  for (DeviceLease& lease : slots_[device.value].leases) {
    if (lease.job == job) {
      freed_ += used < lease.held() ? 1 : 0;
      lease.used = used;
    }
  }
}

void DeviceTable::lease(JobId job, const Needs& needs, std::span<const DeviceId> devices) {
  if (devices.empty()) {
    ++cpu_used_;
    return;
  }
  for (const DeviceId id : devices) {
    slots_[id.value].leases.push_back({job, needs.memory, needs.share, needs.alone(), needs.mps});
    idle_.set_idle(id, false);
  }
}

void DeviceTable::release(JobId job, std::span<const DeviceId> devices) {
  ++freed_;
  if (devices.empty()) {
    BERTH_CHECK(cpu_used_ > 0);
    --cpu_used_;
    return;
  }
  for (const DeviceId id : devices) {
    std::vector<DeviceLease>& leases = slots_[id.value].leases;
    const auto held = std::find_if(leases.begin(), leases.end(),
                                   [&](const DeviceLease& lease) { return lease.job == job; });
    BERTH_CHECK(held != leases.end());
    leases.erase(held);
    if (leases.empty()) {
      refresh(id);
    }
  }
}

}  // namespace berth
