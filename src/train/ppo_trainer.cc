// Trains by proximal policy optimisation: each generation plays a few lessons with choices that are
// drawn, judges them by a critic, and moves the weights a little. What is added up is added up in
// the same order on any number of cores.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "train/adam.h"
#include "train/on_all_cores.h"
#include "train/ppo.h"
#include "train/saved.h"
#include "train/trainer.h"

namespace berth {
namespace {

constexpr std::size_t kCriticUnits = 16;
constexpr double kLambda = 0.97;
constexpr double kCriticRate = 3e-3;
constexpr double kFarthest = 0.02;  // how far a generation may move the chances
constexpr int kEpochs = 4;
constexpr std::size_t kMostDecisions = 4096;  // learned from in a generation
constexpr std::size_t kMinibatch = 512;
constexpr std::size_t kPieces = 8;  // of a minibatch, added up in order

class PpoTrainer final : public Trainer {
 public:
  PpoTrainer(Course& course, const TrainPlan& plan)
      : Trainer(course, plan),
        net_(plan.hidden, first_weights(plan.hidden, Random(plan.seed))),
        critic_(kCriticInputs, kCriticUnits, Random(plan.seed ^ 0xc217)),
        net_steps_(net_.weights().size()),
        critic_steps_(critic_.weights().size()),
        random_(plan.seed ^ 0x99) {}

 private:
  double learn(std::span<const std::size_t> lessons) override {
    Experience all = gather_all(lessons);
    std::vector<std::size_t> order(all.decisions.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    random_.shuffle(order);
    order.resize(std::min(order.size(), kMostDecisions));
    level_advantages(all, order);
    for (int epoch = 0; epoch < kEpochs; ++epoch) {
      double moved = 0;
      for (std::size_t at = 0; at < order.size(); at += kMinibatch) {
        const auto batch = std::span(order).subspan(at, std::min(kMinibatch, order.size() - at));
        const PpoLoss loss = move(all, batch);
        moved += loss.moved * static_cast<double>(batch.size()) / static_cast<double>(order.size());
      }
      if (moved > kFarthest) {
        rate_ = std::max(rate_ / 1.5, 1e-4);
        break;
      }
      rate_ = epoch == kEpochs - 1 && moved < kFarthest / 4 ? std::min(rate_ * 1.5, 0.03) : rate_;
    }
    return all.cost / static_cast<double>(lessons.size());
  }

  Experience gather_all(std::span<const std::size_t> lessons) {
    std::vector<Experience> episodes(lessons.size());
    std::vector<std::uint64_t> seeds(lessons.size());
    std::generate(seeds.begin(), seeds.end(), [this] { return random_.next(); });
    on_all_cores(lessons.size(), course().threads(), [&](std::size_t i) {
      const Lesson& lesson = course().lessons()[lessons[i]];
      episodes[i] = gather(course(), lesson, net_, Random(seeds[i]));
      judge(episodes[i], critic_, kLambda);
    });
    Experience all;
    for (Experience& episode : episodes) {
      course().count_steps(episode.decisions.size());
      all.append(std::move(episode));
    }
    if (!normal_) {
      normalise(all);
    }
    return all;
  }

  /// By the first generation. Until then the kernel adds nothing, so that nothing changes by it.
  void normalise(const Experience& all) {
    const Eigen::Map<const InputRows> rows(
        all.inputs.data(), static_cast<Eigen::Index>(all.inputs.size() / kInputs), kInputs);
    const Eigen::RowVectorXd mean = rows.colwise().mean();
    const Eigen::RowVectorXd spread =
        ((rows.rowwise() - mean).colwise().squaredNorm() / static_cast<double>(rows.rows()))
            .array()
            .sqrt();
    net_.normalise(mean, (spread.array() < 1e-3).select(1.0, spread));
    normal_ = true;
  }

  static void level_advantages(Experience& all, std::span<const std::size_t> which) {
    double sum = 0;
    double squares = 0;
    for (const std::size_t i : which) {
      sum += all.decisions[i].advantage;
      squares += all.decisions[i].advantage * all.decisions[i].advantage;
    }
    const double count = std::max<double>(static_cast<double>(which.size()), 1);
    const double mean = sum / count;
    const double spread = std::sqrt(std::max(squares / count - mean * mean, 1e-12));
    for (const std::size_t i : which) {
      all.decisions[i].advantage = (all.decisions[i].advantage - mean) / spread;
    }
  }

  PpoLoss move(const Experience& all, std::span<const std::size_t> batch) {
    struct Piece {
      PpoLoss loss;
      Eigen::VectorXd net;
      Eigen::VectorXd critic;
      double part = 0;  // of the batch
    };
    std::array<Piece, kPieces> pieces;
    on_all_cores(kPieces, course().threads(), [&](std::size_t i) {
      const std::size_t first = batch.size() * i / kPieces;
      const auto which = batch.subspan(first, batch.size() * (i + 1) / kPieces - first);
      Piece& piece = pieces[i];
      piece.net = Eigen::VectorXd::Zero(net_.weights().size());
      piece.critic = Eigen::VectorXd::Zero(critic_.weights().size());
      piece.part = static_cast<double>(which.size()) / static_cast<double>(batch.size());
      if (which.empty()) {
        return;
      }
      piece.loss = ppo_loss(net_, all, which, settings_, &piece.net);
      Eigen::VectorXd truth(static_cast<Eigen::Index>(which.size()));
      for (std::size_t k = 0; k < which.size(); ++k) {
        truth[static_cast<Eigen::Index>(k)] = all.decisions[which[k]].rest;
      }
      critic_.add_gradient(all.summaries_of(which), truth, piece.critic);
    });
    PpoLoss whole;
    Eigen::VectorXd net = Eigen::VectorXd::Zero(net_.weights().size());
    Eigen::VectorXd critic = Eigen::VectorXd::Zero(critic_.weights().size());
    for (const Piece& piece : pieces) {
      whole.moved += piece.part * piece.loss.moved;
      net += piece.part * piece.net;
      critic += piece.part * piece.critic;
    }
    net_steps_.step(net_.weights(), net, rate_);
    critic_steps_.step(critic_.weights(), critic, kCriticRate);
    return whole;
  }

  Model current() const override { return model_of(net_.plain_weights()); }

  void save_own(SavedWriter& out) const override {
    out.whole(random_.state());
    out.real(rate_);
    out.whole(normal_ ? 1 : 0);
    out.reals({net_.mean().data(), kInputs});
    out.reals({net_.spread().data(), kInputs});
    out.reals({net_.weights().data(), net_.size()});
    out.reals({critic_.weights().data(), static_cast<std::size_t>(critic_.weights().size())});
    net_steps_.save(out);
    critic_steps_.save(out);
  }

  bool load_own(SavedReader& in) override {
    random_ = Random(in.whole());
    rate_ = in.real();
    normal_ = in.whole_up_to(1) == 1;
    Eigen::RowVectorXd mean(kInputs);
    Eigen::RowVectorXd spread(kInputs);
    in.reals({mean.data(), kInputs});
    in.reals({spread.data(), kInputs});
    net_.normalise(mean, spread);
    in.reals({net_.weights().data(), net_.size()});
    in.reals({critic_.weights().data(), static_cast<std::size_t>(critic_.weights().size())});
    net_steps_.load(in);
    critic_steps_.load(in);
    return in.is_good();
  }

  RankNet net_;
  Critic critic_;
  Adam net_steps_;
  Adam critic_steps_;
  Random random_;
  PpoSettings settings_;
  double rate_ = 3e-3;
  bool normal_ = false;  // whether inputs are normalised
};

}  // namespace

std::unique_ptr<Trainer> make_ppo_trainer(Course& course, const TrainPlan& plan) {
  return std::make_unique<PpoTrainer>(course, plan);
}

}  // namespace berth
