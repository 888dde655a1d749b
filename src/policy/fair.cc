// Fair share: who has used the least GPU time lately, over their weight, goes first. Use is
// forgotten by half in every half-life, and what runs at the moment counts as it accrues.
#include <cmath>

#include "policy/by_owner.h"
#include "policy/make.h"
#include "policy/owner_books.h"
#include "policy/pool.h"

namespace berth {
namespace {

class Fair final : public ByOwner {
 public:
  explicit Fair(Duration half_life)
      : decay_(std::log(2.0) / std::max(to_seconds(half_life), 1e-9)) {}

  std::string_view name() const override { return "fair"; }

  void started(const Job& job, const Needs& needs, Time now) override {
    change(job.owner, static_cast<double>(amount_of(needs)) / kWholeShare, now);
  }
  void stopped(const Job& job, const Needs& needs, Time now) override {
    change(job.owner, -static_cast<double>(amount_of(needs)) / kWholeShare, now);
  }

  PolicyBooks close_books() override {
    PolicyBooks books;
    add_owners<3>(books, use_, [](const Use& use) {
      return std::array{bits_of(use.seconds), bits_of(use.gpus), use.at.time_since_epoch().count()};
    });
    return books;
  }
  bool take_books(const PolicyBooks& books) override {
    return take_owners<3>(std::span(books), use_, [](auto own) {
      return Use{from_bits(own[0]), from_bits(own[1]), Time(Duration(own[2]))};
    });
  }

 private:
  struct Use {
    double seconds = 0;  // GPU-seconds, as of `at`
    double gpus = 0;     // in use since then
    Time at;
  };

  double use_at(const Use& use, Time now) const {
    const double kept = std::exp(-decay_ * to_seconds(now - use.at));
    return use.seconds * kept + use.gpus * (1 - kept) / decay_;
  }
  void change(OwnerId owner, double gpus, Time now) {
    Use& use = use_[owner];
    use.seconds = use_at(use, now);
    use.at = now;
    use.gpus += gpus;
  }
  double score(OwnerId owner, std::uint32_t weight, const View& view) override {
    return use_at(use_[owner], view.now()) / weight;
  }

  double decay_;
  std::map<OwnerId, Use> use_;
};

}  // namespace

std::unique_ptr<Policy> make_fair(Duration half_life) { return std::make_unique<Fair>(half_life); }

}  // namespace berth
