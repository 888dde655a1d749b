// EASY backfilling: jobs start in order; when the first does not fit, it gets a reservation for the
// time when enough of the running jobs are expected to have ended (the shadow time), and others may
// start past it that are expected to end by then, or that need no more than what will be spare.
#include "policy/backfilling.h"
#include "policy/make.h"

namespace berth {
namespace {

class Easy final : public Backfilling {
 public:
  explicit Easy(const Order& order)
      : Backfilling({.largest_first = false}),
        order_(order),
        name_(order.name == kFifoOrder.name ? "easy" : std::string(order.name) + "+easy") {}

  std::string_view name() const override { return name_; }
  Rank rank(const Job& job, const Needs& needs) override { return order_.rank(job, needs); }
  bool ranks_by_history() const override { return order_.counts_time; }

 private:
  Rank set_back(const Job&, const View&) override { return 0; }  // whoever the owner is

  void add_notes(PolicyBooks& books) const override { order_.add_to(books); }
  bool take_notes(std::span<const std::int64_t> notes) override {
    return order_.take(notes) && notes.empty();
  }

  Order order_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Policy> make_easy(const Order& order) { return std::make_unique<Easy>(order); }

}  // namespace berth
