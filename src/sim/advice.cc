#include "sim/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/random.h"
#include "base/units.h"

namespace berth {
namespace {

constexpr std::size_t kMostBlocks = 20;
constexpr std::size_t kFewestBlocks = 8;
constexpr std::size_t kSmallestBlock = 25;  // jobs
constexpr std::size_t kDraws = 1000;
constexpr double kShortWait = 1;      // seconds: below, there is nothing to gain
constexpr double kWorthwhile = 0.05;  // of the mean wait
constexpr double kMuchLonger = 1.25;  // the longest wait must not grow by more

/// How often each block was drawn.
using Draw = std::vector<std::uint32_t>;

std::vector<Draw> draw_blocks(std::size_t blocks) {
  Random random(1);
  std::vector<Draw> draws(kDraws, Draw(blocks));
  for (Draw& draw : draws) {
    for (std::size_t i = 0; i < blocks; ++i) {
      ++draw[random.below(blocks)];
    }
  }
  return draws;
}

std::size_t block_of(std::size_t job, std::size_t jobs, std::size_t blocks) {
  return job * blocks / jobs;
}

/// The figures of one candidate under each draw.
struct Drawn {
  std::vector<double> mean;
  std::vector<double> p99;
};

/// The 99th percentile of the jobs of the drawn blocks. `longest`: waits with their blocks, the
/// longest first.
double drawn_p99(const std::vector<std::pair<double, std::size_t>>& longest, const Draw& draw,
                 double jobs) {
  double above = 0;
  for (const auto& [wait, block] : longest) {
    above += draw[block];
    if (above > 0.01 * jobs) {
      return wait;
    }
  }
  return 0;
}

Drawn figures_of(const Waits& waits, const std::vector<Draw>& draws, std::size_t blocks) {
  std::vector<double> sums(blocks);
  std::vector<double> counts(blocks);
  std::vector<std::pair<double, std::size_t>> longest;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    const std::size_t block = block_of(i, waits.size(), blocks);
    sums[block] += waits[i];
    ++counts[block];
    longest.emplace_back(waits[i], block);
  }
  std::sort(longest.begin(), longest.end(), std::greater<>());
  Drawn drawn;
  for (const Draw& draw : draws) {
    double sum = 0;
    double count = 0;
    for (std::size_t i = 0; i < blocks; ++i) {
      sum += draw[i] * sums[i];
      count += draw[i] * counts[i];
    }
    drawn.mean.push_back(sum / count);
    drawn.p99.push_back(drawn_p99(longest, draw, count));
  }
  return drawn;
}

/// Relative to nothing, every wait is an endless change: bounded, so that it can be told.
double change_between(double before, double after) {
  constexpr double kMost = 99;
  return before > 0 ? std::min(after / before - 1, kMost) : after > 0 ? kMost : 0;
}

Change change_of(double before, double after, const std::vector<double>& before_drawn,
                 const std::vector<double>& after_drawn) {
  std::vector<double> changes;
  for (std::size_t i = 0; i < after_drawn.size(); ++i) {
    changes.push_back(change_between(before_drawn[i], after_drawn[i]));
  }
  std::sort(changes.begin(), changes.end());
  const auto at = [&](double q) {
    return changes[static_cast<std::size_t>(q * static_cast<double>(changes.size() - 1))];
  };
  return {change_between(before, after), at(0.025), at(0.975)};
}

Candidate candidate_of(const std::string& policy, Waits waits) {
  Candidate candidate;
  candidate.policy = policy;
  const Result<std::unique_ptr<Policy>> made = make_policy(policy);
  candidate.preempts = made && (*made)->preempts();
  std::sort(waits.begin(), waits.end());
  const auto jobs = static_cast<double>(waits.size());
  candidate.mean_wait_s = std::accumulate(waits.begin(), waits.end(), 0.0) / jobs;
  candidate.p99_wait_s = waits[static_cast<std::size_t>(std::ceil(0.99 * jobs)) - 1];
  candidate.longest_wait_s = waits.back();
  return candidate;
}

std::string time_words(double seconds) {
  return format_duration(
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(std::min(seconds, 9e9))));
}

/// "cut the mean wait by 21 % (95 %: 12 to 30 %), from 3h00m to 2h22m".
std::string cut_words(const Candidate& in_use, const Candidate& other) {
  return fmt::format("cut the mean wait by {:.0f} % (95 %: {:.0f} to {:.0f} %), from {} to {}",
                     -100 * other.mean_change.mean, -100 * other.mean_change.high,
                     -100 * other.mean_change.low, time_words(in_use.mean_wait_s),
                     time_words(other.mean_wait_s));
}

bool is_clearly_shorter(const Candidate& one) {
  return one.mean_change.high < 0 && one.mean_change.mean <= -kWorthwhile;
}

bool keeps_the_longest(const Candidate& in_use, const Candidate& one) {
  return one.longest_wait_s <= std::max(kMuchLonger * in_use.longest_wait_s, kShortWait);
}

std::string longest_words(const Candidate& in_use, const Candidate& other) {
  return fmt::format("the longest wait would have {} from {} to {}",
                     other.longest_wait_s > in_use.longest_wait_s ? "grown" : "gone",
                     time_words(in_use.longest_wait_s), time_words(other.longest_wait_s));
}

const Candidate* least_mean(const std::vector<Candidate>& all, auto fits) {
  const Candidate* least = nullptr;
  for (const Candidate& one : all) {
    if (fits(one) && (least == nullptr || one.mean_wait_s < least->mean_wait_s)) {
      least = &one;
    }
  }
  return least;
}

void conclude(Advice& advice) {
  const Candidate& in_use = advice.candidates.front();
  if (in_use.mean_wait_s < kShortWait) {
    advice.sentence =
        fmt::format("Keep {}: its jobs hardly waited, so there is nothing to gain.", in_use.policy);
    return;
  }
  const auto live = [](const Candidate& one) { return !one.preempts && is_clearly_shorter(one); };
  const Candidate* best = least_mean(advice.candidates, [&](const Candidate& one) {
    return live(one) && keeps_the_longest(in_use, one);
  });
  const Candidate* rash = least_mean(advice.candidates, live);
  if (best != nullptr) {
    advice.best = best->policy;
    advice.sentence = fmt::format("Use {}: it would have {}; {}.", best->policy,
                                  cut_words(in_use, *best), longest_words(in_use, *best));
  } else if (rash != nullptr) {
    advice.sentence = fmt::format("Keep {}: {} would have {}, but {}.", in_use.policy, rash->policy,
                                  cut_words(in_use, *rash), longest_words(in_use, *rash));
  } else {
    advice.sentence = fmt::format(
        "Keep {}: no other policy would have cut the mean wait of {} by {:.0f} % or more for sure.",
        in_use.policy, time_words(in_use.mean_wait_s), 100 * kWorthwhile);
  }
}

}  // namespace

std::vector<std::string> advised_policies(const std::string& in_use, bool several_owners) {
  std::vector<std::string> names = {in_use};
  const auto add = [&](std::initializer_list<std::string_view> more) {
    for (const std::string_view name : more) {
      if (name != in_use) {
        names.emplace_back(name);
      }
    }
  };
  add({"priority"});
  if (several_owners) {
    add({"priority:6h", "priority:7d", "fair", "fair:6h", "fair:7d"});
  }
  add({"easy", "sjf+easy", "srtf"});
  return names;
}

Advice advise(const std::vector<std::string>& policies, const std::vector<Waits>& waits) {
  Advice advice;
  advice.in_use = advice.best = policies.front();
  advice.jobs = waits.front().size();
  advice.blocks = std::min(advice.jobs / kSmallestBlock, kMostBlocks);
  advice.enough = advice.blocks >= kFewestBlocks;
  if (!advice.enough) {
    advice.blocks = 0;
  }
  const std::vector<Draw> draws = draw_blocks(std::max<std::size_t>(advice.blocks, 1));
  Drawn before;
  for (std::size_t i = 0; i < policies.size() && advice.jobs > 0; ++i) {
    Candidate& one = advice.candidates.emplace_back(candidate_of(policies[i], waits[i]));
    if (!advice.enough) {
      continue;
    }
    Drawn after = figures_of(waits[i], draws, advice.blocks);
    if (i == 0) {
      before = std::move(after);
      continue;
    }
    const Candidate& in_use = advice.candidates.front();
    one.mean_change = change_of(in_use.mean_wait_s, one.mean_wait_s, before.mean, after.mean);
    one.p99_change = change_of(in_use.p99_wait_s, one.p99_wait_s, before.p99, after.p99);
  }
  if (!advice.enough) {
    advice.sentence =
        fmt::format("Keep {}: {} jobs are too few to tell policies apart; it takes {} or more.",
                    advice.in_use, advice.jobs, kFewestBlocks * kSmallestBlock);
    return advice;
  }
  conclude(advice);
  return advice;
}

}  // namespace berth
