#include "spec/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/bounds.h"
#include "spec/sweep_text.h"

namespace berth {
namespace {

std::size_t find_param(std::span<const Param> params, std::string_view name) {
  const auto found = std::find_if(params.begin(), params.end(),
                                  [name](const Param& param) { return param.name() == name; });
  return static_cast<std::size_t>(found - params.begin());
}

// The numbers of continuous parameters must not follow from the shuffle of the others.
constexpr std::uint64_t kSampleStream = 0x5ca1ab1e;

}  // namespace

Result<SweepOrder> parse_sweep_order(std::string_view text) {
  if (text == "grid") {
    return SweepOrder::Grid;
  }
  if (text == "shuffled_grid") {
    return SweepOrder::Shuffled;
  }
  return fail(ErrorCode::Usage, fmt::format("'{}' is not a mode: grid or shuffled_grid", text));
}

SweepSpec override_sweep(SweepSpec base, SweepSpec over) {
  for (Param& param : over.params) {
    const std::size_t at = find_param(base.params, param.name());
    if (at < base.params.size()) {
      base.params[at] = std::move(param);
    } else {
      base.params.push_back(std::move(param));
    }
  }
  if (over.command) {
    base.command = std::move(over.command);
  }
  if (!over.zips.empty()) {
    base.zips = std::move(over.zips);
  }
  if (!over.where.empty()) {
    base.where = std::move(over.where);
  }
  base.order = over.order ? over.order : base.order;
  base.n_samples = over.n_samples ? over.n_samples : base.n_samples;
  base.seed = over.seed ? over.seed : base.seed;
  base.allow_unused = base.allow_unused || over.allow_unused;
  return base;
}

namespace {

/// What is compared with each other, or searched for each point.
Result<void> check_size(const SweepSpec& spec) {
  if (spec.params.size() > kMostParameters) {
    return fail(ErrorCode::Usage, fmt::format("the sweep has {} parameters: at most {} can be",
                                              spec.params.size(), kMostParameters));
  }
  std::size_t condition = 0;
  for (const std::string& text : spec.where) {
    condition += text.size();
  }
  if (condition > kLongestCondition) {
    return fail(ErrorCode::Usage, fmt::format("the conditions are {} bytes long: at most {} can be",
                                              condition, kLongestCondition));
  }
  return {};
}

}  // namespace

Result<Sweep> Sweep::make(SweepSpec spec) {
  if (const auto good = check_size(spec); !good) {
    return Failure(good.error());
  }
  Sweep sweep;
  sweep.params_ = std::move(spec.params);
  sweep.n_samples_ = spec.n_samples;
  sweep.most_misses_ = spec.most_misses;
  sweep.most_tries_ = spec.most_tries;
  sweep.most_steps_ = spec.most_steps;
  sweep.patience_ = spec.patience;
  sweep.steps_ += sweep.params_.size();
  sweep.order_ = spec.order.value_or(spec.n_samples ? SweepOrder::Shuffled : SweepOrder::Grid);
  for (std::size_t i = 0; i < sweep.params_.size(); ++i) {
    if (find_param(sweep.params_, sweep.params_[i].name()) != i) {
      return fail(ErrorCode::Usage,
                  fmt::format("parameter '{}' is given twice", sweep.params_[i].name()));
    }
  }
  Result<Template> command = Template::parse(spec.command.value_or(""), sweep.params_);
  if (!command) {
    return Failure(command.error());
  }
  sweep.template_ = *std::move(command);
  for (const std::string& text : spec.where) {
    Result<Constraint> constraint = Constraint::parse(text, sweep.params_);
    if (!constraint) {
      return Failure(constraint.error());
    }
    sweep.steps_ += constraint->steps();
    sweep.constraints_.push_back(*std::move(constraint));
  }
  if (const auto good = sweep.add_axes(spec.zips); !good) {
    return Failure(good.error());
  }
  if (const auto good = sweep.measure(); !good) {
    return Failure(good.error());
  }
  if (const auto good = sweep.check_use(); !good && !spec.allow_unused) {
    return Failure(good.error());
  }
  return sweep;
}

/// Marks the parameters called `names` as members of `group`.
Result<void> Sweep::add_zip(const std::vector<std::string>& names,
                            std::vector<std::size_t>& group_of, std::size_t group) const {
  if (names.size() < 2) {
    return fail(ErrorCode::Usage, "zip needs at least two parameter names");
  }
  std::string lengths;
  bool same = true;
  std::optional<std::uint64_t> length;
  for (const std::string& name : names) {
    const std::size_t param = find_param(params_, name);
    if (param == params_.size()) {
      return fail(ErrorCode::Usage,
                  fmt::format("zip: unknown parameter '{}' (known: {})", name, names_of(params_)));
    }
    if (group_of[param] != 0) {
      return fail(ErrorCode::Usage, fmt::format("zip: parameter '{}' is named twice", name));
    }
    const auto size = params_[param].size();
    if (!size) {
      return fail(ErrorCode::Usage,
                  fmt::format("zip: '{}' is a continuous range, which has no length", name));
    }
    group_of[param] = group;
    same = same && (!length || *length == *size);
    length = size;
    lengths += fmt::format("{}{} has {}", lengths.empty() ? "" : ", ", name, *size);
  }
  if (!same) {
    return fail(ErrorCode::Usage,
                fmt::format("zipped parameters need the same number of values: {}", lengths));
  }
  return {};
}

Result<void> Sweep::add_axes(const std::vector<std::vector<std::string>>& zips) {
  std::vector<std::size_t> group_of(params_.size(), 0);  // 0: in no zip
  for (std::size_t i = 0; i < zips.size(); ++i) {
    if (auto good = add_zip(zips[i], group_of, i + 1); !good) {
      return good;
    }
  }
  std::vector<std::optional<std::size_t>> axis_of(zips.size() + 1);
  for (std::size_t i = 0; i < params_.size(); ++i) {
    const auto size = params_[i].size();
    if (!size) {
      continuous_.push_back(i);
      continue;
    }
    std::optional<std::size_t>& axis = axis_of[group_of[i]];
    if (group_of[i] != 0 && axis) {
      axes_[*axis].params.push_back(i);
      continue;
    }
    axis = axes_.size();
    axes_.push_back({{i}, *size});
  }
  return {};
}

Result<void> Sweep::measure() {
  for (const Axis& axis : axes_) {
    if (__builtin_mul_overflow(grid_size_, axis.size, &grid_size_)) {
      return fail(ErrorCode::Usage, "the grid has more than 2^64 points");
    }
  }
  if (!continuous_.empty() && !n_samples_) {
    const std::string& name = params_[continuous_.front()].name();
    return fail(ErrorCode::Usage,
                fmt::format("parameter '{}' is a continuous range: say how many samples to draw "
                            "(--n-samples N), or give it points ({}=…/5)",
                            name, name));
  }
  return {};
}

Result<void> Sweep::check_use() const {
  for (std::size_t i = 0; i < params_.size(); ++i) {
    if (!template_->uses(i)) {
      return fail(ErrorCode::Usage,
                  fmt::format("the template does not use parameter '{}' (--allow-unused accepts "
                              "that)",
                              params_[i].name()));
    }
  }
  return {};
}

std::optional<std::uint64_t> Sweep::count() const {
  if (!constraints_.empty()) {
    return std::nullopt;
  }
  if (!continuous_.empty()) {
    return n_samples_;
  }
  return std::min(grid_size_, n_samples_.value_or(grid_size_));
}

bool Sweep::is_random() const { return order_ == SweepOrder::Shuffled || !continuous_.empty(); }

SweepCursor::SweepCursor(const Sweep& sweep, std::uint64_t seed)
    : sweep_(sweep),
      random_(seed ^ kSampleStream),
      values_(sweep.params_.size()),
      stands_(sweep.axes_.size()) {
  if (sweep.order_ == SweepOrder::Shuffled) {
    shuffle_.emplace(sweep.grid_size_, seed);
  }
}

bool SweepCursor::next() {
  // With a continuous parameter no two rounds through the grid are the same: start it again.
  const bool endless = !sweep_.continuous_.empty();
  for (std::uint64_t misses = 0; !sweep_.n_samples_ || given_ < *sweep_.n_samples_; ++misses) {
    if (position_ == sweep_.grid_size_) {
      if (!endless) {
        return false;
      }
      position_ = 0;
    }
    if ((sweep_.n_samples_ && misses >= sweep_.most_misses_) || has_had_enough()) {
      gave_up_ = true;
      return false;
    }
    const std::uint64_t index = position_++;
    move_to(shuffle_ ? (*shuffle_)(index) : index);
    for (const std::size_t param : sweep_.continuous_) {
      values_[param] = sweep_.params_[param].sample(random_);
    }
    if (satisfies_constraints()) {
      ++given_;
      return true;
    }
  }
  return false;
}

bool SweepCursor::has_had_enough() {
  constexpr std::uint64_t kLookEvery = 20'000;  // steps: well below a millisecond
  steps_ += sweep_.steps_;
  bool enough = tried_++ >= sweep_.most_tries_ || steps_ > sweep_.most_steps_;
  if (steps_ - looked_ >= kLookEvery) {
    looked_ = steps_;
    enough = enough || sweep_.patience_.over();
  }
  return enough;
}

void SweepCursor::move_to(std::uint64_t grid_index) {
  for (std::size_t i = sweep_.axes_.size(); i-- > 0;) {
    const Sweep::Axis& axis = sweep_.axes_[i];
    const std::uint64_t at = grid_index % axis.size;
    grid_index /= axis.size;
    if (stands_[i] == at) {
      continue;
    }
    stands_[i] = at;
    for (const std::size_t param : axis.params) {
      values_[param] = sweep_.params_[param].at(at);
    }
  }
}

bool SweepCursor::satisfies_constraints() const {
  return std::all_of(sweep_.constraints_.begin(), sweep_.constraints_.end(),
                     [this](const Constraint& constraint) { return constraint.holds(values_); });
}

}  // namespace berth
