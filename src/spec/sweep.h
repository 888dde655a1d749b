// Sweep: many commands from one template, for every combination of its parameters or a sample of
// them. Points are made one at a time, so a sweep of any size takes constant memory. A Sweep is
// immutable and usable from any thread; a SweepCursor belongs to one thread.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/patience.h"
#include "base/random.h"
#include "base/result.h"
#include "spec/constraint.h"
#include "spec/param.h"
#include "spec/sweep_order.h"
#include "spec/template.h"

namespace berth {

enum class SweepOrder { Grid, Shuffled };

Result<SweepOrder> parse_sweep_order(std::string_view text);

/// What a user asks for, on the command line or in a file. Absent fields were not given.
struct SweepSpec {
  std::optional<std::string> command;
  std::vector<Param> params;
  /// Each group of parameters advances together, at the place of its first parameter.
  std::vector<std::vector<std::string>> zips;
  std::vector<std::string> where;
  /// Absent: grid order, but a sample is drawn in random order.
  std::optional<SweepOrder> order;
  /// The first N points in that order. Continuous ranges need it.
  std::optional<std::uint64_t> n_samples;
  std::optional<std::uint64_t> seed;
  /// Accept parameters that the command does not mention.
  bool allow_unused = false;
  /// A sample gives up after this many points in a row that fail the constraints.
  std::uint64_t most_misses = 1'000'000;
  /// A cursor gives up after trying this many points, after this many steps for them (the values of
  /// a point and the steps of its constraints), or when patience ends.
  std::uint64_t most_tries = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t most_steps = std::numeric_limits<std::uint64_t>::max();
  Patience patience = {};
};

/// `base`, overridden by everything that `over` gives; parameters are replaced by name.
SweepSpec override_sweep(SweepSpec base, SweepSpec over);

class Sweep {
 public:
  static Result<Sweep> make(SweepSpec spec);

  /// The number of points that the cursor will give; nothing when it depends on constraints.
  std::optional<std::uint64_t> count() const;

  /// Whether the seed makes a difference.
  bool is_random() const;

  std::span<const Param> params() const { return params_; }

 private:
  friend class SweepCursor;

  /// Parameters that advance together, and the number of their values.
  struct Axis {
    std::vector<std::size_t> params;
    std::uint64_t size = 1;
  };

  Sweep() = default;
  Result<void> add_axes(const std::vector<std::vector<std::string>>& zips);
  Result<void> add_zip(const std::vector<std::string>& names, std::vector<std::size_t>& group_of,
                       std::size_t group) const;
  Result<void> measure();
  Result<void> check_use() const;

  std::vector<Param> params_;
  std::vector<Axis> axes_;
  std::vector<std::size_t> continuous_;
  std::vector<Constraint> constraints_;
  std::optional<Template> template_;
  SweepOrder order_ = SweepOrder::Grid;
  std::optional<std::uint64_t> n_samples_;
  std::uint64_t most_misses_ = 0;
  std::uint64_t most_tries_ = 0;
  std::uint64_t most_steps_ = 0;
  Patience patience_;
  std::uint64_t steps_ = 1;  // for each point
  std::uint64_t grid_size_ = 1;
};

/// Walks the points of a sweep, which must outlive it. The same seed gives the same points on every
/// machine.
class SweepCursor {
 public:
  SweepCursor(const Sweep& sweep, std::uint64_t seed);

  /// Moves to the next point (the first one, at the start); false when there is none.
  bool next();

  /// After next() returned false: whether it stopped looking for points that satisfy the
  /// constraints, although there may be some.
  bool gave_up() const { return gave_up_; }

  /// The values at this point, in the order of Sweep::params().
  std::span<const ParamValue> values() const { return values_; }

  std::string command() const { return sweep_.template_->expand(values_); }

 private:
  bool has_had_enough();
  void move_to(std::uint64_t grid_index);
  bool satisfies_constraints() const;

  const Sweep& sweep_;
  std::optional<Permutation> shuffle_;
  Random random_;
  std::uint64_t position_ = 0;
  std::uint64_t given_ = 0;
  std::uint64_t tried_ = 0;
  std::uint64_t steps_ = 0;   // done
  std::uint64_t looked_ = 0;  // steps at the last look at the clock
  bool gave_up_ = false;
  std::vector<ParamValue> values_;
  /// The position of each axis, so that only the values that change are touched.
  std::vector<std::optional<std::uint64_t>> stands_;
};

}  // namespace berth
