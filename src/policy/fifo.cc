// First come, first served. Ranks are equal, so ids decide, which grow with every submission.
#include "policy/in_order.h"
#include "policy/policies.h"

namespace berth {

const Order kFifoOrder{"fifo", [](const Job&, const Needs&, Duration) -> Rank { return 0; }};

std::unique_ptr<Policy> make_in_order(const Order& order) {
  return std::make_unique<InOrder>(order);
}

std::unique_ptr<Policy> make_fifo() { return make_in_order(kFifoOrder); }

}  // namespace berth
