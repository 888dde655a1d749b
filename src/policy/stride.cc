// Stride (Waldspurger and Weihl, 1995): the lottery without luck. Each owner has a pass, which
// every start moves on by the expected GPU time over the owner's weight; the lowest goes first.
#include <cmath>

#include "policy/backfilling.h"
#include "policy/make.h"
#include "policy/owner_books.h"

namespace berth {
namespace {

class Stride final : public Backfilling {
 public:
  std::string_view name() const override { return "stride"; }

 private:
  /// In GPU-microseconds of weight 1.
  Rank set_back(const Job& first, const View&) override {
    return std::llround(pass_[first.owner] * 1e6);
  }

  /// Who was away has saved nothing up: the owner joins where the others are. Who merely waits for
  /// devices was not away.
  void owner_joins(const Job& job, bool away) override {
    double& pass = pass_[job.owner];
    pass = away ? std::max(pass, now_) : pass;
  }
  void chosen(const Job& job, bool, Time) override { now_ = std::max(now_, pass_[job.owner]); }
  void has_started(const Job& job, const Needs& needs, Time) override {
    pass_[job.owner] += expected_use(job, needs) / job.weight;
  }

  void add_notes(PolicyBooks& books) const override {
    books.push_back(bits_of(now_));
    add_owners<1>(books, pass_, [](double pass) { return std::array{bits_of(pass)}; });
  }
  bool take_notes(std::span<const std::int64_t> notes) override {
    now_ = notes.empty() ? 0 : from_bits(notes[0]);
    return !notes.empty() &&
           take_owners<1>(notes.subspan(1), pass_, [](auto own) { return from_bits(own[0]); });
  }

  std::map<OwnerId, double> pass_;
  double now_ = 0;  // the pass of the last one that was chosen
};

}  // namespace

std::unique_ptr<Policy> make_stride() { return std::make_unique<Stride>(); }

}  // namespace berth
