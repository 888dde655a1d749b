// Lottery (Waldspurger and Weihl, OSDI '94): at each start a ticket is drawn; an owner has as many
// tickets as weight. The draws come from a seed, so a run can be repeated.
//
// All draws are made as one race. Each owner waits for an exponentially distributed time with as
// many tickets as rate, and who is due first wins and waits anew. The race has no memory, so each
// win belongs to an owner with the odds of their tickets, as if drawn afresh; but whoever has won
// and finds no devices stays the winner until they are there. After a win the wait is the longer
// the more GPU time the win is expected to take: the tickets are for GPU time, not for starts.
#include "base/random.h"
#include "policy/make.h"
#include "policy/owner_passes.h"

namespace berth {
namespace {

class Lottery final : public OwnerPasses {
 public:
  explicit Lottery(std::uint64_t seed) : random_(seed) {}

  std::string_view name() const override { return "lottery"; }

 private:
  double step(const Job& job, const Needs& needs) override {
    return -std::log1p(-random_.unit()) * expected_use(job, needs) / job.weight;
  }

  void add_notes(PolicyBooks& books) const override {
    books.push_back(static_cast<std::int64_t>(random_.state()));
    OwnerPasses::add_notes(books);
  }
  bool take_notes(std::span<const std::int64_t> notes) override {
    if (notes.empty()) {
      return false;
    }
    random_ = Random(static_cast<std::uint64_t>(notes[0]));
    return OwnerPasses::take_notes(notes.subspan(1));
  }

  Random random_;
};

}  // namespace

std::unique_ptr<Policy> make_lottery(std::uint64_t seed) { return std::make_unique<Lottery>(seed); }

}  // namespace berth
