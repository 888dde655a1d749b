// Dominant resource fairness (Ghodsi et al., NSDI '11): an owner's dominant share is the larger of
// their parts of all GPUs and of all GPU memory; the lowest, over the weight, goes first.
//
// The paper looks at what runs at the moment. Where jobs are not small, that is unfair: an owner
// whose gangs take the whole machine has all of it or nothing, and nothing is always the lowest
// share. So shares are those that an owner has had lately, decayed as under fair share, and each
// resource is added up over time before the larger one is taken. What runs counts as if it had run
// for a second more: owners without a history divide the machine as in the paper.
#include <cmath>

#include "policy/backfilling.h"
#include "policy/decayed_use.h"
#include "policy/make.h"
#include "policy/pool.h"

namespace berth {
namespace {

constexpr Duration kAhead = std::chrono::seconds(1);

Bytes memory_of(const Needs& needs) { return {needs.memory.count * needs.gpus}; }

Bytes memory_of(const DeviceTable& devices) {
  Bytes memory;
  for (const DeviceSlot& slot : devices.all()) {
    memory += slot.spec.memory;
  }
  return memory;
}

class Drf final : public Backfilling {
 public:
  explicit Drf(Duration half_life) : compute_(half_life), memory_(half_life) {}

  std::string_view name() const override { return "drf"; }

 private:
  void has_started(const Job& job, const Needs& needs, Time now) override {
    change(job, needs, 1, now);
  }
  void has_stopped(const Job& job, const Needs& needs, Time now) override {
    change(job, needs, -1, now);
  }
  void change(const Job& job, const Needs& needs, int sign, Time now) {
    compute_.change(job.owner, sign * static_cast<double>(amount_of(needs)), now);
    if (memory_of(needs) > Bytes{}) {
      memory_.change(job.owner, sign * static_cast<double>(memory_of(needs).count), now);
    }
  }

  /// In microseconds for which the owner has had the whole machine.
  Rank set_back(const Job& first, const View& view) override {
    const Time then = view.now();
    double share = part(compute_, first.owner, then, pool_size(view.devices()));
    if (memory_.knows(first.owner)) {
      share = std::max(share, part(memory_, first.owner, then, memory_of(view.devices()).count));
    }
    return std::llround(share / first.weight * 1e6);
  }

  static double part(const DecayedUse& use, OwnerId owner, Time now, std::int64_t all) {
    return (use.of(owner, now) + use.rate(owner) * to_seconds(kAhead)) /
           static_cast<double>(std::max<std::int64_t>(all, 1));
  }

  /// First how many numbers there are about compute.
  void add_notes(PolicyBooks& books) const override {
    PolicyBooks compute;
    compute_.add_to(compute);
    books.push_back(static_cast<std::int64_t>(compute.size()));
    books.insert(books.end(), compute.begin(), compute.end());
    memory_.add_to(books);
  }
  bool take_notes(std::span<const std::int64_t> notes) override {
    if (notes.empty() || notes[0] < 0 || static_cast<std::uint64_t>(notes[0]) >= notes.size()) {
      return false;
    }
    const auto compute = static_cast<std::size_t>(notes[0]);
    return compute_.take(notes.subspan(1, compute)) && memory_.take(notes.subspan(1 + compute));
  }

  DecayedUse compute_;  // in thousandths of a GPU
  DecayedUse memory_;   // in bytes
};

}  // namespace

std::unique_ptr<Policy> make_drf(Duration half_life) { return std::make_unique<Drf>(half_life); }

}  // namespace berth
