// Fair share: who has used the least GPU time lately, over their weight, goes first.
#include "policy/by_owner.h"
#include "policy/decayed_use.h"
#include "policy/make.h"

namespace berth {
namespace {

class Fair final : public ByOwner {
 public:
  explicit Fair(Duration half_life) : use_(half_life) {}

  std::string_view name() const override { return "fair"; }

  void started(const Job& job, const Needs& needs, Time now) override {
    use_.started(job, needs, now);
  }
  void stopped(const Job& job, const Needs& needs, Time now) override {
    use_.stopped(job, needs, now);
  }

  PolicyBooks close_books() override {
    PolicyBooks books;
    use_.add_to(books);
    return books;
  }
  bool take_books(const PolicyBooks& books) override { return use_.take(books); }

 private:
  double score(OwnerId owner, std::uint32_t weight, const View& view) override {
    return use_.of(owner, view.now()) / weight;
  }

  DecayedUse use_;
};

}  // namespace

std::unique_ptr<Policy> make_fair(Duration half_life) { return std::make_unique<Fair>(half_life); }

}  // namespace berth
