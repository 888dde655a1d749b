#include "core/peak_streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>

#include "core/claim_book.h"

namespace berth {
namespace {

double varied(Random& random, double noise) { return 1 + noise * (2 * random.unit() - 1); }

double between_in_log(Random& random, double low, double high) {
  return low * std::pow(high / low, random.unit());
}

int whole(Random& random, int low, int high) {
  return low + static_cast<int>(random.below(static_cast<std::uint64_t>(high - low + 1)));
}

std::string with_rate(Random& random, const std::string& command, int seed) {
  return fmt::format("{} --lr {:.3g} --seed {}", command, between_in_log(random, 1e-5, 1e-1), seed);
}

/// `law` gives the peak of a batch size, a length and a width.
PeakStream random_search(double noise, double (*law)(double, double, double)) {
  return {100, 30, [=](Random& random, int i) {
            const int batch = whole(random, 8, 64);
            const int length = 64 * whole(random, 1, 16);
            const int width = 128 * whole(random, 2, 8);
            const std::string command =
                fmt::format("train.py --batch {} --length {} --width {}", batch, length, width);
            return StreamJob{with_rate(random, command, i),
                             law(batch, length, width) * varied(random, noise)};
          }};
}

PeakStream growing_batch(double noise, double (*law)(int)) {
  return {14, 0, [=](Random& random, int i) {
            return StreamJob{
                with_rate(random, fmt::format("train.py --batch {}", i + 1), i * 13 % 7),
                law(i + 1) * varied(random, noise)};
          }};
}

}  // namespace

PeakStream noisy_repeats(double noise) {
  return {
      30, 0, [=](Random& random, int i) {
        return StreamJob{with_rate(random, "train.py --batch 64", i), 5000 * varied(random, noise)};
      }};
}

PeakStream new_batch_sizes(double noise) {
  return {60, 10, [=](Random& random, int i) {
            const int batch = whole(random, 4, 256);
            return StreamJob{with_rate(random, fmt::format("train.py --batch {}", batch), i),
                             (1500 + 60 * batch) * varied(random, noise)};
          }};
}

PeakStream random_search_of_a_product(double noise) {
  return random_search(noise, [](double batch, double length, double width) {
    return 1200 + batch * length * width * 6e-4 + width * width * 3e-3;
  });
}

PeakStream random_search_of_a_sum(double noise) {
  return random_search(noise, [](double batch, double length, double width) {
    return 1200 + 60 * batch + 4 * length + 5 * width;
  });
}

PeakStream flat_then_steep(double noise) {
  return growing_batch(noise, [](int batch) { return 4000 + 2500.0 * std::max(0, batch - 7); });
}

PeakStream flat_then_steeper(double noise) {
  return growing_batch(noise,
                       [](int batch) { return 4000 * std::pow(1.5, std::max(0, batch - 7)); });
}

PeakStream long_flat_then_steep(double noise) {
  return {74, 60, [=](Random& random, int i) {
            const int batch = i < 60 ? whole(random, 1, 40) : i - 19;
            return StreamJob{with_rate(random, fmt::format("train.py --batch {}", batch), i),
                             (4000 + 1000 * std::max(0, batch - 40)) * varied(random, noise)};
          }};
}

namespace {

constexpr int kJobsOfTheFirst = 40;
constexpr int kJobsOfEach = 20;
constexpr int kOthers = 4;

/// `law` gives the peak of a network with these parts, and of a batch size, a length and a width.
using Parts = std::array<double, 3>;
using Law = double (*)(const Parts&, double batch, double length, double width);

PeakStream family(double noise, Law first, Law others) {
  // The parts of each network; drawn anew by the first job of a stream.
  const auto networks = std::make_shared<std::vector<Parts>>();
  return {kJobsOfTheFirst + kOthers * kJobsOfEach, kJobsOfTheFirst, [=](Random& random, int i) {
            if (i == 0) {
              networks->assign(1 + kOthers, {});
              for (Parts& parts : *networks) {
                for (double& part : parts) {
                  part = between_in_log(random, 0.4, 2.5);
                }
              }
            }
            const int network = i < kJobsOfTheFirst ? 0 : 1 + (i - kJobsOfTheFirst) / kJobsOfEach;
            const int batch = whole(random, 4, 128);
            const int length = 64 * whole(random, 1, 16);
            const int width = 128 * whole(random, 2, 8);
            const double peak = (network == 0 ? first : others)(
                (*networks)[static_cast<std::size_t>(network)], batch, length, width);
            return StreamJob{with_rate(random,
                                       fmt::format("train.py --model net{} --batch {} --length {} "
                                                   "--width {}",
                                                   network, batch, length, width),
                                       i),
                             peak * varied(random, noise)};
          }};
}

double of_batch(const Parts& parts, double batch, double, double) {
  return 1500 * parts[0] + 60 * batch * parts[1];
}

double of_sum(const Parts& parts, double batch, double length, double width) {
  return 1200 + 60 * batch * parts[0] + 4 * length * parts[1] + 5 * width * parts[2];
}

double of_product(const Parts& parts, double batch, double length, double width) {
  return 1200 * parts[0] + batch * length * width * 6e-4 * parts[1] +
         width * width * 3e-3 * parts[2];
}

}  // namespace

PeakStream kindred_batch_sizes(double noise) { return family(noise, of_batch, of_batch); }
PeakStream kindred_products(double noise) { return family(noise, of_product, of_product); }
PeakStream kindred_sums(double noise) { return family(noise, of_sum, of_sum); }
PeakStream kin_in_name_only(double noise) { return family(noise, of_batch, of_product); }

double StreamFigures::share_claimed() const { return static_cast<double>(claimed) / jobs; }

double StreamFigures::share_out_of_memory() const {
  return static_cast<double>(out_of_memory) / claimed;
}

double StreamFigures::least_share_out_of_memory() const {
  const double z = 1.96;
  const double share = share_out_of_memory();
  const double middle = share + z * z / 2 / claimed;
  const double half = z * std::sqrt(share * (1 - share) / claimed + z * z / 4 / claimed / claimed);
  return (middle - half) / (1 + z * z / claimed);
}

double StreamFigures::waste() const {
  return static_cast<double>(wasted.count) / static_cast<double>(claims.count);
}

StreamFigures learn_stream(const PeakStream& stream) {
  StreamFigures figures;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    ClaimBook book;
    int alone = 0;
    int failed = 0;
    for (int i = 0; i < stream.jobs; ++i) {
      const StreamJob job = stream.job(random, i);
      const Recipe recipe = recipe_of("", job.command);
      const Bytes peak = {static_cast<std::int64_t>(job.peak_mib * 1048576)};
      const PeakOutlook outlook = book.outlook(recipe);
      const std::optional<Bytes> claim = outlook.claim;
      const bool out_of_memory = claim && peak > *claim;
      alone += claim ? 0 : 1;
      failed += out_of_memory ? 1 : 0;
      if (i >= stream.after) {
        ++figures.jobs;
        figures.claimed += claim ? 1 : 0;
        figures.out_of_memory += out_of_memory ? 1 : 0;
        figures.lent += outlook.lent ? 1 : 0;
        figures.lent_out_of_memory += outlook.lent && out_of_memory ? 1 : 0;
        figures.claims += claim.value_or(Bytes{});
        figures.wasted += claim && !out_of_memory ? *claim - peak : Bytes{};
      }
      if (out_of_memory) {
        book.learn_at_least(recipe, peak);
      }
      book.learn(recipe, peak);
    }
    figures.most_alone = std::max(figures.most_alone, alone);
    figures.most_out_of_memory = std::max(figures.most_out_of_memory, failed);
  }
  return figures;
}

}  // namespace berth
