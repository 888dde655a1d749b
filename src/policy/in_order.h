// The plainest way to schedule: jobs start strictly in order, and the first that does not fit holds
// up all behind it. Such policies differ only in their Order; backfilling takes an Order, too.
#pragma once

#include <memory>

#include "core/policy.h"

namespace berth {

struct Order {
  std::string_view name;
  Rank (*rank)(const Job&, const Needs&);  // equals go by id, that is by time of submission
};

extern const Order kFifoOrder;
extern const Order kSjfOrder;
extern const Order kLptOrder;
extern const Order kF1Order;

std::unique_ptr<Policy> make_in_order(const Order& order);

class InOrder final : public Policy {
 public:
  explicit InOrder(const Order& order) : order_(order) {}

  std::string_view name() const override { return order_.name; }
  Rank rank(const Job& job, const Needs& needs) override { return order_.rank(job, needs); }

  std::optional<Proposal> propose(const View& view) override {
    if (view.queue().heads().empty()) {
      return std::nullopt;
    }
    const Queue::Head& head = *view.queue().heads().begin();
    auto devices = view.place(head.shape, {});
    if (!devices) {
      return std::nullopt;
    }
    return Proposal{head.first.job, std::move(*devices)};
  }

 private:
  Order order_;
};

}  // namespace berth
