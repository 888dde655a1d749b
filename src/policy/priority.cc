// The default: short jobs soon, nobody late (window_order.h), no owner at the expense of another,
// and priorities above both.
//
// Between owners, two things count besides the ranks of their first jobs. An owner's queue counts
// from when it was last served: who has submitted a thousand jobs at once has waited for the first
// of them only. And an owner is set back by the time for which they have had the whole machine
// lately, over their weight.
#include <algorithm>
#include <cmath>

#include "policy/backfilling.h"
#include "policy/decayed_use.h"
#include "policy/owner_books.h"
#include "policy/window_order.h"

namespace berth {
namespace {

class Priority final : public Backfilling {
 public:
  explicit Priority(PriorityOptions options)
      : Backfilling(options.backfill), order_{options.aging}, use_(options.half_life) {}

  std::string_view name() const override { return "priority"; }
  Rank rank(const Job& job, const Needs&) override { return order_.rank(job); }
  std::optional<Promise> promise(const Job& job) const override { return order_.promise(job); }

 private:
  Rank set_back(const Job& first, const View& view) override {
    const auto served = served_.find(first.owner);
    const Rank plain = first.rank - order_.raised(first);
    const Rank late = served == served_.end() ? 0 : std::max<Rank>(served->second - plain, 0);
    const auto gpus = static_cast<double>(std::max<std::size_t>(view.devices().serving(), 1));
    const double used = use_.of(first.owner, view.now()) / gpus / first.weight;
    return late + std::llround(used * 1e6);
  }

  void owner_joins(const Job& job, bool) override { served_.erase(job.owner); }
  void chosen(const Job& job, bool first, Time now) override {
    if (first) {
      served_[job.owner] = rank_of(now);
    }
  }
  void has_started(const Job& job, const Needs& needs, Time now) override {
    use_.started(job, needs, now);
  }
  void has_stopped(const Job& job, const Needs& needs, Time now) override {
    use_.stopped(job, needs, now);
  }

  /// First how many owners were served, then these, then what was used.
  void add_notes(PolicyBooks& books) const override {
    books.push_back(static_cast<std::int64_t>(served_.size()));
    add_owners<1>(books, served_, [](Rank when) { return std::array{when}; });
    use_.add_to(books);
  }
  bool take_notes(std::span<const std::int64_t> notes) override {
    if (notes.empty() || notes[0] < 0 ||
        static_cast<std::uint64_t>(notes[0]) > (notes.size() - 1) / 2) {
      return false;
    }
    const std::size_t served = 2 * static_cast<std::size_t>(notes[0]);
    return take_owners<1>(notes.subspan(1, served), served_, [](auto own) { return own[0]; }) &&
           use_.take(notes.subspan(1 + served));
  }

  WindowOrder order_;
  DecayedUse use_;
  std::map<OwnerId, Rank> served_;  // when the first job of each owner started last
};

}  // namespace

std::unique_ptr<Policy> make_priority(PriorityOptions options) {
  return std::make_unique<Priority>(options);
}

}  // namespace berth
