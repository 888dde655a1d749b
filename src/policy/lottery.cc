// Lottery (Waldspurger and Weihl, OSDI '94): at each start a ticket is drawn; an owner has as many
// tickets as weight. The draws come from a seed, so a run can be repeated.
//
// All draws are made as one race. Each owner waits for an exponentially distributed time with as
// many tickets as rate, and who is due first wins and waits anew. The race has no memory, so each
// win belongs to an owner with the odds of their tickets, as if drawn afresh; but whoever has won
// and finds no devices stays the winner until they are there. After a win the wait is the longer
// the more GPU time the win is expected to take: the tickets are for GPU time, not for starts.
#include <cmath>

#include "base/random.h"
#include "policy/backfilling.h"
#include "policy/make.h"
#include "policy/owner_books.h"

namespace berth {
namespace {

class Lottery final : public Backfilling {
 public:
  explicit Lottery(std::uint64_t seed) : random_(seed) {}

  std::string_view name() const override { return "lottery"; }

 private:
  Rank set_back(const Job& first, const View&) override {
    return std::llround(due_[first.owner] * 1e6);
  }

  void owner_joins(const Job& job, bool away) override {
    double& due = due_[job.owner];
    due = away ? std::max(due, now_) : due;
  }
  void chosen(const Job& job, bool, Time) override { now_ = std::max(now_, due_[job.owner]); }
  void has_started(const Job& job, const Needs& needs, Time) override {
    due_[job.owner] -= std::log1p(-random_.unit()) * expected_use(job, needs) / job.weight;
  }

  void add_notes(PolicyBooks& books) const override {
    books.push_back(static_cast<std::int64_t>(random_.state()));
    books.push_back(bits_of(now_));
    add_owners<1>(books, due_, [](double due) { return std::array{bits_of(due)}; });
  }
  bool take_notes(std::span<const std::int64_t> notes) override {
    if (notes.size() < 2) {
      return false;
    }
    random_ = Random(static_cast<std::uint64_t>(notes[0]));
    now_ = from_bits(notes[1]);
    return take_owners<1>(notes.subspan(2), due_, [](auto own) { return from_bits(own[0]); });
  }

  Random random_;
  std::map<OwnerId, double> due_;
  double now_ = 0;  // when the last winner was due
};

}  // namespace

std::unique_ptr<Policy> make_lottery(std::uint64_t seed) { return std::make_unique<Lottery>(seed); }

}  // namespace berth
