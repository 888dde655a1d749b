// Stride (Waldspurger and Weihl, 1995): the lottery without luck. Each owner has a pass, which
// every start moves on by the expected GPU time over the owner's weight; the lowest goes first.
#include "policy/by_owner.h"
#include "policy/make.h"
#include "policy/owner_books.h"

namespace berth {
namespace {

class Stride final : public ByOwner {
 public:
  std::string_view name() const override { return "stride"; }

  void started(const Job& job, const Needs& needs, Time) override {
    pass_[job.owner] += expected_use(job, needs) / job.weight;
  }

  PolicyBooks close_books() override {
    PolicyBooks books = {bits_of(now_)};
    add_owners<1>(books, pass_, [](double pass) { return std::array{bits_of(pass)}; });
    return books;
  }
  bool take_books(const PolicyBooks& books) override {
    now_ = books.empty() ? 0 : from_bits(books[0]);
    return !books.empty() && take_owners<1>(std::span(books).subspan(1), pass_,
                                            [](auto own) { return from_bits(own[0]); });
  }

 private:
  double score(OwnerId owner, std::uint32_t, const View&) override {
    // Who was away has saved nothing up: it joins where the others are.
    double& pass = pass_[owner];
    pass = std::max(pass, now_);
    return pass;
  }
  void chosen(OwnerId owner) override { now_ = std::max(now_, pass_[owner]); }

  std::map<OwnerId, double> pass_;
  double now_ = 0;  // the pass of the last one that was chosen
};

}  // namespace

std::unique_ptr<Policy> make_stride() { return std::make_unique<Stride>(); }

}  // namespace berth
