#include "policy/policies.h"

namespace berth {
namespace {

class Fifo final : public Policy {
 public:
  std::string_view name() const override { return "fifo"; }

  Rank rank(const Job&) const override { return 0; }  // equals go by id

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
};

}  // namespace

std::unique_ptr<Policy> make_fifo() { return std::make_unique<Fifo>(); }

}  // namespace berth
