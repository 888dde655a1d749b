// The plainest way to schedule: jobs start strictly in order, and the first that does not fit holds
// up all behind it. Such policies differ only in their Order; backfilling takes an Order, too.
#pragma once

#include <algorithm>
#include <memory>

#include "core/policy.h"

namespace berth {

struct Order {
  std::string_view name;
  /// `after`: how long after `begin` the job was submitted. Equals go by id, that is by time of
  /// submission.
  Rank (*formula)(const Job&, const Needs&, Duration after);
  bool counts_time = false;  // whether the formula makes use of that
  Time begin = kNever;       // kNever: when the first job is ranked, its submission

  Order from(Time when) const {
    Order order = *this;
    order.begin = when;
    return order;
  }
  Rank rank(const Job& job, const Needs& needs) {
    begin = begin == kNever ? job.submitted : begin;
    return formula(job, needs, std::max(job.submitted - begin, Duration{}));
  }

  /// For a checkpoint: whatever else than the job a rank depends on.
  void add_to(PolicyBooks& books) const {
    if (counts_time) {
      books.push_back(begin.time_since_epoch().count());
    }
  }
  /// Takes what add_to() has added off the front of the books; false when it is not there.
  bool take(std::span<const std::int64_t>& books) {
    if (counts_time && !books.empty()) {
      begin = Time(Duration(books[0]));
      books = books.subspan(1);
      return true;
    }
    return !counts_time;
  }
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

  bool ranks_by_history() const override { return order_.counts_time; }
  PolicyBooks close_books() override {
    PolicyBooks books;
    order_.add_to(books);
    return books;
  }
  bool take_books(const PolicyBooks& books) override {
    std::span<const std::int64_t> rest = books;
    return order_.take(rest) && rest.empty();
  }

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
