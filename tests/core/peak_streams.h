// Streams of made-up jobs whose peaks follow a law that the learner does not know, and how the
// learner fares with them.
#pragma once

#include <functional>
#include <string>

#include "base/random.h"
#include "base/units.h"

namespace berth {

struct StreamJob {
  std::string command;
  double peak_mib = 0;
};

struct PeakStream {
  int jobs = 0;
  int after = 0;  // jobs from this one on are counted
  std::function<StreamJob(Random&, int)> job;
};

/// The same job a number of times, but for its seed and its learning rate.
PeakStream noisy_repeats(double noise);
/// Memory grows with the batch size; nearly each job has one that was not seen before.
PeakStream new_batch_sizes(double noise);
/// Memory grows with three of five numbers, in a product or in a sum.
PeakStream random_search_of_a_product(double noise);
PeakStream random_search_of_a_sum(double noise);
/// Memory stays the same up to a batch size of 7 and then grows, linearly or by half each.
PeakStream flat_then_steep(double noise);
PeakStream flat_then_steeper(double noise);
/// Sixty jobs use the same whatever their batch size; that of the next 14 is larger, and matters.
PeakStream long_flat_then_steep(double noise);

// Families: 40 jobs of one network, then 20 of each of four others, which take more or less memory
// in each part of it. The jobs of the others are counted.

/// Memory grows with the batch size.
PeakStream kindred_batch_sizes(double noise);
/// Memory grows with a product of three numbers, the square of one, or a sum of three.
PeakStream kindred_products(double noise);
PeakStream kindred_sums(double noise);
/// One number matters for the others only, or in another way than for the first.
PeakStream kin_in_name_only(double noise);

struct StreamFigures {
  int jobs = 0;
  int claimed = 0;
  int out_of_memory = 0;
  int lent = 0;  // of those that claimed: what a kindred recipe lent
  int lent_out_of_memory = 0;
  Bytes claims;                // of all that claimed
  Bytes wasted;                // what of that was not used
  int most_alone = 0;          // in one stream, from its first job on
  int most_out_of_memory = 0;  // likewise

  double share_claimed() const;
  double share_out_of_memory() const;
  /// The lower end of the 95 % confidence interval of that (Wilson's).
  double least_share_out_of_memory() const;
  double waste() const;
};

/// Tells a fresh claim book of each job's peak after asking for its claim, for seeds 1 to 20.
StreamFigures learn_stream(const PeakStream& stream);

}  // namespace berth
