// RecipePeaks: how much memory the jobs of one recipe have used, and so how much the next job
// should claim.
//
// Jobs of one recipe differ in their numbers. A job whose numbers have run before claims what those
// runs used. For other numbers a PeakModel of all runs says what to expect. The model is fitted
// anew when a tenth of its runs are new, or when a run was a surprise: waiting jobs, of which there
// may be a million, then get new claims.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/units.h"
#include "core/peak_groups.h"
#include "core/peak_model.h"

namespace berth {

/// What is known about the memory of a job to come.
struct PeakOutlook {
  std::optional<Bytes> claim;  // on each device; nothing: too little is known
  int more_runs = 0;           // without a claim: about how many more it takes
  std::size_t runs = 0;        // of the recipe: what the claim is made from
  bool lent = false;           // and from runs of a kindred recipe
};

class RecipePeaks {
 public:
  using Numbers = std::vector<double>;

  /// `risk`: how often a job may use more than its claim. Jobs of the recipe have `width` numbers.
  RecipePeaks(double risk, std::size_t width) : risk_(risk), width_(width) {}

  PeakOutlook outlook(const Numbers& numbers) const;
  /// What all runs together tell about other numbers; null before the first run.
  std::shared_ptr<const PeakModel> model() const { return model_; }
  /// The number by whose values the runs fall into groups that are alike; nothing: they do not.
  std::optional<std::size_t> grouped_by() const;
  std::vector<PeakRun> newest_runs() const;
  /// How many different numbers have run.
  std::size_t cases() const { return cases_.size(); }
  /// Whether jobs of the recipe can have such numbers: they come from files, too.
  bool usable(const Numbers& numbers) const;
  /// As claims are rounded.
  static Bytes round_up(double size);

  /// A job has ended well. True when claims may be different from now on.
  bool learn(const Numbers& numbers, Bytes peak);
  /// A job ran out of memory and would have used at least this much. Holds until a job with the
  /// same numbers ends well.
  bool learn_at_least(const Numbers& numbers, Bytes memory);

 private:
  /// What is known about jobs with exactly these numbers.
  struct Case {
    std::deque<Bytes> peaks;  // the newest last
    Bytes at_least;
    bool passed = false;     // the newest run used more than it had claimed
    std::uint64_t last = 0;  // when it ran, in runs of the recipe

    std::optional<Bytes> highest() const;
  };

  Case& case_of(const Numbers& numbers);
  template <class Change>
  bool take_in(const Numbers& numbers, Bytes seen, Change change);
  void fit();
  void measure_repeats();
  Bytes claim_of(const Case& known) const;

  double risk_;
  std::size_t width_;
  std::map<Numbers, Case> cases_;
  std::uint64_t runs_ = 0;
  std::shared_ptr<const PeakModel> model_;  // shared with those who borrow from it
  std::optional<PeakGroups> groups_;        // where the model knows too little
  std::size_t model_runs_ = 0;
  std::size_t new_runs_ = 0;  // since the model was fitted
  // How far runs of the very same numbers are apart.
  double repeat_spread_ = 0;
  double repeat_reach_ = 0;
};

}  // namespace berth
