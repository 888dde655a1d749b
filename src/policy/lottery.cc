// Lottery (Waldspurger and Weihl, OSDI '94): at each start a ticket is drawn; an owner has as many
// tickets as weight. The draws come from a seed, so a run can be repeated.
#include <cmath>

#include "base/random.h"
#include "policy/by_owner.h"
#include "policy/make.h"

namespace berth {
namespace {

class Lottery final : public ByOwner {
 public:
  explicit Lottery(std::uint64_t seed) : random_(seed) {}

  std::string_view name() const override { return "lottery"; }

  PolicyBooks close_books() override { return {static_cast<std::int64_t>(random_.state())}; }
  bool take_books(const PolicyBooks& books) override {
    random_ = Random(books.size() == 1 ? static_cast<std::uint64_t>(books[0]) : 0);
    return books.size() == 1;
  }

 private:
  /// The smallest of such numbers belongs to an owner with the odds of their tickets, and so does
  /// the smallest of the rest among the others: one draw each is a whole order of winners.
  double score(OwnerId, std::uint32_t weight, const View&) override {
    return -std::log1p(-random_.unit()) / weight;
  }

  Random random_;
};

}  // namespace

std::unique_ptr<Policy> make_lottery(std::uint64_t seed) { return std::make_unique<Lottery>(seed); }

}  // namespace berth
