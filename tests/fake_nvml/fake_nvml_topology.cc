// A driver library made of simulated devices: slices, links and errors.
#include "fake_nvml.h"

using namespace berth;        // NOLINT: this file is one long list of C functions
using namespace berth::nvml;  // NOLINT

namespace {

/// The devices that share an island are linked each with each: link n of a device goes to the n-th
/// other one. Null where there is no such link.
const SimRecord* linked(std::span<SimRecord> records, Device device, unsigned link) {
  unsigned number = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (i != device->record && records[i].island == records[device->record].island &&
        number++ == link) {
      return &records[i];
    }
  }
  return nullptr;
}

/// body(SimRecord of the far end) → code.
template <class Body>
int with_link(Device device, unsigned link, Body body) {
  const int usable =
      with_device(device, kSimNvlink, [](const SimRecord&) -> int { return kSuccess; });
  if (usable != kSuccess) {
    return usable;
  }
  return with_driver([&](SimHeader&, std::span<SimRecord> records) -> int {
    const SimRecord* other = linked(records, device, link);
    return other == nullptr ? kNotSupported : body(*other);
  });
}

}  // namespace

extern "C" {

int nvmlDeviceGetMigMode(Device device, unsigned* current, unsigned* pending) {
  return with_device(device, 0, [&](const SimRecord& record) -> int {
    *current = *pending = record.mig_slices > 0 ? kMigEnabled : 0;
    return kSuccess;
  });
}

int nvmlDeviceGetMaxMigDeviceCount(Device device, unsigned* count) {
  return with_device(device, 0, [&](const SimRecord& record) -> int {
    *count = std::max(7U, record.mig_slices);
    return kSuccess;
  });
}

int nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned index, Device* slice) {
  return with_device(device, 0, [&](const SimRecord& record) -> int {
    if (index >= record.mig_slices) {
      return kNotFound;
    }
    *slice = handle_of(device->record, static_cast<int>(index));
    return kSuccess;
  });
}

int nvmlDeviceGetAttributes_v2(Device device, Attributes* attributes) {
  return with_device(device, 0, [&](const SimRecord& record) -> int {
    *attributes = {};
    attributes->memory_mebibytes =
        static_cast<std::uint64_t>(sim_memory(record, device->slice).count) >> 20;
    return kSuccess;
  });
}

int nvmlDeviceGetNvLinkState(Device device, unsigned link, unsigned* active) {
  return with_link(device, link, [&](const SimRecord&) -> int {
    *active = 1;
    return kSuccess;
  });
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(Device device, unsigned link, PciInfo* pci) {
  return with_link(device, link, [&](const SimRecord& other) -> int {
    put_pci(other, *pci);
    return kSuccess;
  });
}

int nvmlDeviceGetTopologyCommonAncestor(Device a, Device b, unsigned* level) {
  return with_driver([&](SimHeader&, std::span<SimRecord> records) -> int {
    if (a == nullptr || b == nullptr) {
      return kInvalidArgument;
    }
    const bool near = records[a->record].numa == records[b->record].numa;
    *level = near ? kTopologyMultipleSwitches : kTopologySystem;
    return kSuccess;
  });
}

int nvmlEventSetCreate(EventSet* set) {
  return with_driver([&](SimHeader&, std::span<SimRecord>) -> int {
    *set = &driver->event_sets.emplace_back();
    return kSuccess;
  });
}

int nvmlEventSetFree(EventSet set) {
  return with_driver([&](SimHeader&, std::span<SimRecord>) -> int {
    set->watches.clear();
    return kSuccess;
  });
}

int nvmlDeviceRegisterEvents(Device device, unsigned long long types, EventSet set) {
  return with_device(device, 0, [&](const SimRecord& record) -> int {
    if (types != kEventXid) {
      return kNotSupported;
    }
    set->watches.push_back({device, record.xid_count});
    return kSuccess;
  });
}

/// Never waits: berth asks with a timeout of 0 only.
int nvmlEventSetWait_v2(EventSet set, EventData* event, unsigned) {
  return with_driver([&](SimHeader&, std::span<SimRecord> records) -> int {
    for (OpaqueEventSet::Watch& watch : set->watches) {
      const SimRecord& record = records[watch.device->record];
      if (record.xid_count != watch.seen) {
        watch.seen = record.xid_count;
        *event = {watch.device, kEventXid, record.last_xid, kNoInstance, kNoInstance};
        return kSuccess;
      }
    }
    return kTimeout;
  });
}

}  // extern "C"
