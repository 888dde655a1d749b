#include "train/evolution.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/random.h"
#include "train/saved.h"

namespace berth {
namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

constexpr std::size_t kMostWeights = 4096;
constexpr std::size_t kMostDraws = 4096;

/// A standard normal draw, by Box and Muller.
double normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.unit()));
  return radius * std::cos(2 * std::numbers::pi * random.unit());
}

}  // namespace

struct Evolution::State {
  Eigen::Index size = 0;
  std::size_t population = 0;
  Random random{0};
  std::uint64_t generation = 0;
  double spread = 1;
  Vector middle;
  Vector path;         // of the middle, less the shape of the draws
  Vector shaped_path;  // of the middle
  Matrix shape;        // covariance of the draws, but for the spread

  // Made anew from these.
  Matrix axes;    // of the shape
  Vector scales;  // along the axes
  std::vector<std::vector<double>> drawn;
  std::vector<double> parts;  // how much each of the better half counts
  double parts_mass = 0;

  void settle() {
    const std::size_t better = population / 2;
    parts.resize(better);
    for (std::size_t i = 0; i < better; ++i) {
      parts[i] = std::log(static_cast<double>(population) / 2 + 0.5) -
                 std::log(static_cast<double>(i) + 1);
    }
    const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
    double squares = 0;
    for (double& part : parts) {
      part /= sum;
      squares += part * part;
    }
    parts_mass = 1 / squares;
    find_axes();
  }

  void find_axes() {
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(shape);
    axes = solver.eigenvectors();
    scales = solver.eigenvalues().cwiseMax(1e-20).cwiseSqrt();
  }
};

Evolution::Evolution(std::unique_ptr<State> state) : state_(std::move(state)) {}
Evolution::Evolution(Evolution&&) noexcept = default;
Evolution& Evolution::operator=(Evolution&&) noexcept = default;
Evolution::~Evolution() = default;

Evolution::Evolution(std::span<const double> middle, double spread, std::size_t population,
                     std::uint64_t seed)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.size = static_cast<Eigen::Index>(middle.size());
  state.population = std::max<std::size_t>(population, 4);
  state.random = Random(seed);
  state.spread = spread;
  state.middle = Eigen::Map<const Vector>(middle.data(), state.size);
  state.path = Vector::Zero(state.size);
  state.shaped_path = Vector::Zero(state.size);
  state.shape = Matrix::Identity(state.size, state.size);
  state.settle();
}

const std::vector<std::vector<double>>& Evolution::ask() {
  State& state = *state_;
  state.drawn.clear();
  for (std::size_t i = 0; i < state.population; ++i) {
    Vector draw(state.size);
    for (Eigen::Index k = 0; k < state.size; ++k) {
      draw[k] = normal(state.random);
    }
    const Vector weights =
        state.middle + state.spread * (state.axes * state.scales.cwiseProduct(draw));
    state.drawn.emplace_back(weights.data(), weights.data() + state.size);
  }
  return state.drawn;
}

void Evolution::tell(std::span<const double> costs) {
  State& state = *state_;
  const auto n = static_cast<double>(state.size);
  const double mass = state.parts_mass;
  std::vector<std::size_t> order(state.drawn.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return costs[a] < costs[b]; });
  const auto step_of = [&](std::size_t i) {
    const std::vector<double>& weights = state.drawn[order[i]];
    return Vector((Eigen::Map<const Vector>(weights.data(), state.size) - state.middle) /
                  state.spread);
  };
  Vector step = Vector::Zero(state.size);
  Matrix drawn_shape = Matrix::Zero(state.size, state.size);
  for (std::size_t i = 0; i < state.parts.size(); ++i) {
    const Vector one = step_of(i);
    step += state.parts[i] * one;
    drawn_shape += state.parts[i] * one * one.transpose();
  }
  const double path_rate = (mass + 2) / (n + mass + 5);
  const double shape_rate = (4 + mass / n) / (n + 4 + 2 * mass / n);
  const double one_rate = 2 / ((n + 1.3) * (n + 1.3) + mass);
  const double many_rate =
      std::min(1 - one_rate, 2 * (mass - 2 + 1 / mass) / ((n + 2) * (n + 2) + mass));
  const double damping = 1 + 2 * std::max(0.0, std::sqrt((mass - 1) / (n + 1)) - 1) + path_rate;
  const double expected = std::sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));

  state.middle += state.spread * step;
  const Vector round = state.axes * (state.axes.transpose() * step).cwiseQuotient(state.scales);
  state.path = (1 - path_rate) * state.path + std::sqrt(path_rate * (2 - path_rate) * mass) * round;
  const double grown = 1 - std::pow(1 - path_rate, 2.0 * static_cast<double>(state.generation + 1));
  const bool steady = state.path.norm() / std::sqrt(grown) < (1.4 + 2 / (n + 1)) * expected;
  state.shaped_path = (1 - shape_rate) * state.shaped_path;
  if (steady) {
    state.shaped_path += std::sqrt(shape_rate * (2 - shape_rate) * mass) * step;
  }
  const double lost = steady ? 0 : one_rate * shape_rate * (2 - shape_rate);
  state.shape = (1 - one_rate - many_rate + lost) * state.shape +
                one_rate * state.shaped_path * state.shaped_path.transpose() +
                many_rate * drawn_shape;
  state.shape = Matrix((state.shape + state.shape.transpose()) / 2);
  state.spread *= std::exp(std::min(1.0, path_rate / damping * (state.path.norm() / expected - 1)));
  ++state.generation;
  state.find_axes();
}

std::vector<double> Evolution::middle() const {
  return {state_->middle.data(), state_->middle.data() + state_->size};
}
double Evolution::spread() const { return state_->spread; }
std::uint64_t Evolution::generation() const { return state_->generation; }

std::string Evolution::save() const {
  const State& state = *state_;
  SavedWriter out;
  out.whole(static_cast<std::uint64_t>(state.size));
  out.whole(state.population);
  out.whole(state.random.state());
  out.whole(state.generation);
  out.real(state.spread);
  for (const Vector* vector : {&state.middle, &state.path, &state.shaped_path}) {
    out.reals({vector->data(), static_cast<std::size_t>(state.size)});
  }
  out.reals({state.shape.data(), static_cast<std::size_t>(state.size * state.size)});
  return out.take();
}

Result<Evolution> Evolution::load(std::string_view text) {
  SavedReader in(text);
  auto state = std::make_unique<State>();
  const std::size_t size = in.whole_up_to(kMostWeights);
  state->size = static_cast<Eigen::Index>(size);
  state->population = in.whole_up_to(kMostDraws);
  state->random = Random(in.whole());
  state->generation = in.whole();
  state->spread = in.real();
  for (Vector* vector : {&state->middle, &state->path, &state->shaped_path}) {
    vector->resize(state->size);
    in.reals({vector->data(), size});
  }
  if (in.is_good()) {  // a square of what a damaged file says could be large
    state->shape.resize(state->size, state->size);
    in.reals({state->shape.data(), size * size});
  }
  if (!in.is_done() || size == 0 || state->population < 4) {
    return fail(ErrorCode::Usage, "the checkpoint is not one of an evolution");
  }
  state->settle();
  return Evolution(std::move(state));
}

}  // namespace berth
