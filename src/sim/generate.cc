#include "sim/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/units.h"
#include "sim/distributions.h"

namespace berth {
namespace {

/// The words after the kind, each of which must be asked for.
class Settings {
 public:
  static Result<Settings> parse(std::string_view text) {
    Settings settings;
    while (!text.empty()) {
      const std::size_t end = text.find(',');
      const std::string_view word = text.substr(0, end);
      const std::size_t equals = word.find('=');
      if (equals == std::string_view::npos) {
        return fail(ErrorCode::Usage, fmt::format("'{}' should be name=value", word));
      }
      settings.values_[std::string(word.substr(0, equals))] = word.substr(equals + 1);
      text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    }
    return settings;
  }

  double number(const std::string& name, double fallback, double least) {
    const std::string_view text = take(name);
    if (text.empty()) {
      return fallback;
    }
    const Result<double> value = parse_real(text, name);
    if (!value || !(*value >= least)) {
      wrong(fmt::format("{}={}: give a number of at least {}", name, text, least));
      return fallback;
    }
    return *value;
  }

  double seconds(const std::string& name, double fallback) {
    const std::string_view text = take(name);
    if (text.empty()) {
      return fallback;
    }
    const Result<Duration> value = parse_duration(text);
    if (!value) {
      wrong(fmt::format("{}: {}", name, value.error().message));
      return fallback;
    }
    return to_seconds(*value);
  }

  std::string_view word(const std::string& name, std::string_view fallback) {
    const std::string_view text = take(name);
    return text.empty() ? fallback : text;
  }

  void wrong(std::string why) { problem_ = problem_.empty() ? std::move(why) : problem_; }

  Result<void> done() const {
    if (!problem_.empty()) {
      return fail(ErrorCode::Usage, problem_);
    }
    if (!values_.empty()) {
      return fail(ErrorCode::Usage,
                  fmt::format("there is no setting '{}' for this kind of workload",
                              values_.begin()->first));
    }
    return {};
  }

 private:
  std::string_view take(const std::string& name) {
    const auto found = values_.find(name);
    if (found == values_.end()) {
      return {};
    }
    const std::string_view text = found->second;
    values_.erase(found);
    return text;
  }

  std::map<std::string, std::string_view> values_;
  std::string problem_;
};

Duration from_seconds(double seconds) {
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(std::min(seconds, 8e9)));
}

std::size_t count(Settings& settings, double fallback) {
  return static_cast<std::size_t>(std::min(settings.number("n", fallback, 1), 1e8));
}

void add(Workload& workload, double submit, double length, std::uint32_t gpus) {
  SimJob& job = workload.jobs.emplace_back();
  job.submit = Time(from_seconds(submit));
  job.duration = from_seconds(length);
  job.expected = job.duration;
  job.gpus = gpus;
}

struct Range {
  int low;
  int high;

  int draw(Random& random) const {
    return low + static_cast<int>(random.below(static_cast<std::uint64_t>(high - low + 1)));
  }
};

struct Kind {
  std::string_view name;
  Range compute;  // percent of a GPU
  Range memory;   // percent of its memory
  Range seconds;
  Range priority;
};
constexpr std::array kMix = {
    Kind{"image_classification", {20, 40}, {10, 30}, {5, 10}, {1, 3}},
    Kind{"lstm_training", {30, 50}, {40, 60}, {7, 15}, {2, 4}},
    Kind{"cnn_training", {50, 80}, {30, 50}, {10, 20}, {3, 5}},
};

Workload mix(Settings& settings, const Machine& machine, Random& random) {
  const std::size_t n = count(settings, 200);
  const double every = settings.seconds("every", 0);
  Workload workload;
  for (const Kind& kind : kMix) {
    workload.owners.emplace_back(kind.name);
  }
  const std::int64_t memory_mib = machine.front().spec.memory.count >> 20;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t which = random.below(kMix.size());
    const Kind& kind = kMix[which];
    const int compute = kind.compute.draw(random);
    const int memory = kind.memory.draw(random);
    add(workload, every * static_cast<double>(i), kind.seconds.draw(random), 1);
    SimJob& job = workload.jobs.back();
    job.share = static_cast<std::uint32_t>(compute * 10);
    job.memory_mib = static_cast<std::uint32_t>(memory_mib * memory / 100);
    job.priority = kind.priority.draw(random);
    job.owner = static_cast<std::uint32_t>(which + 1);
  }
  return workload;
}

/// With bursts of one job this is a Poisson process.
Workload arrivals(Settings& settings, const Machine& machine, Random& random, double burst) {
  const std::size_t n = count(settings, 10000);
  const double load = settings.number("load", 0.8, 1e-6);
  const double mean = std::max(settings.seconds("mean", 3600), 1e-3);
  burst = burst > 1 ? settings.number("burst", burst, 1) : 1;
  const std::string_view length = settings.word("length", "exponential");
  if (length != "exponential" && length != "fixed") {
    settings.wrong(fmt::format("length={}: choose exponential or fixed", length));
  }
  const double gap = mean / (load * static_cast<double>(machine.size())) * burst;
  Workload workload;
  double now = 0;
  double left_in_burst = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (left_in_burst < 1) {
      now += exponential(random, gap);
      left_in_burst = burst;
    }
    --left_in_burst;
    add(workload, now, length == "fixed" ? mean : exponential(random, mean), 1);
  }
  return workload;
}

/// How many nodes a job takes: one, or a power of two more often than not, two-stage uniform in the
/// logarithm.
std::uint32_t lublin_size(Random& random, double most) {
  constexpr double kSerial = 0.244;
  constexpr double kPowerOfTwo = 0.576;
  constexpr double kLow = 0.8;
  constexpr double kFirstStage = 0.86;
  if (most < 2 || random.unit() <= kSerial) {
    return 1;
  }
  const double high = std::log2(most);
  const double middle = std::max(high - 2.5, kLow);
  const double log = random.unit() <= kFirstStage ? kLow + random.unit() * (middle - kLow)
                                                  : middle + random.unit() * (high - middle);
  const double size = random.unit() <= kPowerOfTwo ? std::exp2(std::round(log)) : std::exp2(log);
  return static_cast<std::uint32_t>(std::clamp(std::round(size), 1.0, most));
}

/// A hyper-gamma logarithm, longer for bigger jobs.
double lublin_length(Random& random, std::uint32_t size) {
  constexpr double kLongest = 12;
  const double short_kind = std::clamp(-0.0054 * size + 0.78, 0.0, 1.0);
  for (;;) {
    const double log =
        random.unit() <= short_kind ? gamma(random, 4.2, 0.94) : gamma(random, 312, 0.03);
    if (log <= kLongest) {
      return std::max(1.0, std::round(std::exp(log)));
    }
  }
}

/// How busy this time of the day is, compared with the busiest: a gamma density that begins at
/// five.
double daytime(double now) {
  constexpr double kShape = 8.1737;
  constexpr double kScale = 3.9631 / 2;  // in hours: the model counts half hours
  const double hours = std::fmod(now / 3600 + 24 - 5, 24) + 0.25;
  const double peak = (kShape - 1) * kScale;
  return 0.1 + 0.9 * std::pow(hours / peak, kShape - 1) * std::exp((peak - hours) / kScale);
}

Workload lublin(Settings& settings, const Machine& machine, Random& random) {
  const std::size_t n = count(settings, 10000);
  const double load = settings.number("load", 0.8, 1e-6);
  Workload workload;
  double now = 0;
  double work = 0;
  for (std::size_t i = 0; i < n; ++i) {
    // Gaps are a gamma logarithm; at quiet times of the day they stretch.
    now += std::exp(std::min(gamma(random, 10.2303, 0.4871), 13.0)) / daytime(now);
    const std::uint32_t size = lublin_size(random, static_cast<double>(machine.size()));
    const double length = lublin_length(random, size);
    work += length * size;
    add(workload, now, length, size);
  }
  // The model fixes the shape; the gaps are scaled to give the load.
  const double stretch = work / (load * static_cast<double>(machine.size()) * now);
  for (SimJob& job : workload.jobs) {
    job.submit = Time(from_seconds(to_seconds(job.submit.time_since_epoch()) * stretch));
  }
  return workload;
}

}  // namespace

Result<Workload> generate(std::string_view spec, const Machine& machine, std::uint64_t seed) {
  const std::size_t colon = spec.find(':');
  const std::string_view kind = spec.substr(0, colon);
  Result<Settings> settings = Settings::parse(
      colon == std::string_view::npos ? std::string_view{} : spec.substr(colon + 1));
  if (!settings) {
    return Failure(settings.error());
  }
  Random random(seed);
  Workload workload;
  if (kind == "mix") {
    workload = mix(*settings, machine, random);
  } else if (kind == "poisson") {
    workload = arrivals(*settings, machine, random, 1);
  } else if (kind == "bursty") {
    workload = arrivals(*settings, machine, random, 20);
  } else if (kind == "lublin") {
    workload = lublin(*settings, machine, random);
  } else {
    return fail(
        ErrorCode::Usage,
        fmt::format("there is no workload '{}': choose mix, poisson, bursty or lublin", kind));
  }
  if (const Result<void> done = settings->done(); !done) {
    return Failure(done.error());
  }
  return workload;
}

}  // namespace berth
