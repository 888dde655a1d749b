// Random events against the live driver: jobs of all kinds, readings that come late, another berth
// instance that takes devices and frees them, restarts. After each the scheduler's invariants must
// hold, and at the end every job has ended, every lock is free, and a replay of the journal comes
// to the same starts. A failure prints the seed; BERTH_SEED=N runs that one alone.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/random.h"
#include "drive/world.h"

namespace berth {
namespace {

class RandomDrive {
 public:
  explicit RandomDrive(std::uint64_t seed) : random_(seed), lists_(random_.below(2) == 0) {
    world_.learn();
    world_.options().config.enforce_claims = chance(2);
    if (!lists_) {
      world_.without_processes();
    }
    for (std::uint64_t n = 1 + random_.below(4); n > 0; --n) {
      DeviceSpec spec;
      spec.name = std::to_string(world_.devices().list().size());
      spec.memory = gibibytes(24);
      world_.add_device(spec);
    }
  }

  /// Throws a Mistake where something is wrong.
  void run(int events) {
    for (int i = 0; i < events; ++i) {
      world_.host().set_time(world_.now() + std::chrono::seconds(random_.below(5)));
      happen();
      world_.turn();
      check_foreign();
      world_.host().happened().clear();
    }
    drain();
    world_.check_replay();
  }

 private:
  bool chance(std::uint64_t one_in) { return random_.below(one_in) == 0; }
  Bytes memory_below(std::uint64_t gib) {
    return gibibytes(static_cast<std::int64_t>(random_.below(gib)));
  }
  DeviceId any_device() {
    return DeviceId{static_cast<std::uint32_t>(random_.below(world_.devices().list().size()))};
  }

  void happen() {
    const std::uint64_t kind = random_.below(20);
    if (kind < 6) {
      submit();
    } else if (kind < 11) {
      end_one();
    } else if (kind < 15) {
      read();
    } else if (kind < 18) {
      use_other();
    } else if (kind == 18 && submitted_ > 0) {
      const JobId job{1 + random_.below(submitted_)};
      (void)world_.driver().scheduler().tell(Cancel{job}, world_.now()).has_value();
    } else if (chance(4) && !reading_ && !awaits_reading()) {
      world_.restart();
    }
  }

  void submit() {
    JobSpec spec;
    spec.needs.gpus = chance(4) ? 0 : 1;
    spec.needs.gpus += chance(4) && world_.devices().list().size() > 1 ? 1 : 0;
    spec.needs.memory = chance(2) ? gibibytes(1) + memory_below(12) : Bytes{};
    spec.retry.most = chance(4) ? 1 : 0;
    spec.retry.when_lost = chance(4);
    const std::string name = fmt::format("job{}", submitted_ + 1);
    const FakeHost::Start plans[] = {FakeHost::Start::Late, FakeHost::Start::Fails};
    if (chance(4)) {
      world_.host().plan(name, plans[random_.below(2)]);
    }
    const std::string recipe = chance(2) ? "train" : chance(2) ? "test" : "";
    must_do(world_.submit(name, spec, 0, false, recipe));
    ++submitted_;
  }

  void end_one() {
    const std::map<JobId, DrivenAttempt>& attempts = world_.driver().attempts().all();
    if (attempts.empty()) {
      return;
    }
    auto chosen = attempts.begin();
    std::advance(chosen, static_cast<long>(random_.below(attempts.size())));
    const auto& [job, attempt] = *chosen;
    if (over_.contains({job, attempt.number})) {
      return;  // its host has told of it: a reading is awaited
    }
    if (attempt.pid == 0 && chance(2)) {
      world_.host().start_now(job);
      return;
    }
    AttemptOver over{job};
    over.code = chance(2) ? 0 : 1;
    over.kind = chance(8)          ? AttemptOver::Kind::Lost
                : attempt.pid == 0 ? AttemptOver::Kind::NotStarted
                                   : AttemptOver::Kind::Exited;
    over.output_end = chance(2) ? "CUDA out of memory. Tried to allocate 2.00 GiB" : "";
    over_.insert({job, attempt.number});
    for (std::uint32_t i = 0; i < world_.devices().list().size(); ++i) {
      holders_[i].erase(world_.jobs().name(job));
    }
    show_use();
    world_.over(std::move(over));
  }

  /// A host that is restarted tells again of the ends that its driver had not concluded. Not this
  /// one.
  bool awaits_reading() {
    const std::map<JobId, DrivenAttempt>& attempts = world_.driver().attempts().all();
    return std::any_of(attempts.begin(), attempts.end(), [this](const auto& entry) {
      return over_.contains({entry.first, entry.second.number});
    });
  }

  /// What is used changes, and a reading begins, or comes.
  void read() {
    if (std::exchange(reading_, false)) {
      world_.end_reading();
      return;
    }
    for (const auto& [job, attempt] : world_.driver().attempts().all()) {
      for (const DeviceId device : attempt.devices) {
        if (attempt.pid != 0 && !over_.contains({job, attempt.number})) {
          holders_[device.value][world_.jobs().name(job)] = memory_below(8);
        }
      }
    }
    if (lists_) {
      holders_[any_device().value]["foreign"] = memory_below(4);
    }
    show_use();
    world_.begin_reading(false);
    reading_ = true;
  }

  void show_use() {
    for (std::uint32_t i = 0; i < world_.devices().list().size(); ++i) {
      world_.set_use(DeviceId{i}, holders_[i]);
    }
  }

  void use_other() {
    const DeviceId device = any_device();
    if (others_.erase(device) > 0) {
      const bool awaited = world_.driver().devices().locks()->obstacle(device) != nullptr;
      world_.other_frees(device);
      if (awaited) {
        world_.host().wait_for("locks of devices");
      }
    } else if (world_.other_could_take(device)) {
      world_.other_takes(device);
      others_.insert(device);
    }
  }

  /// Nobody but our jobs is there, whatever the devices' driver lists.
  void check_foreign() {
    for (std::uint32_t i = 0; i < world_.devices().list().size() && !lists_; ++i) {
      require(world_.driver().view().devices()[DeviceId{i}].foreign == Bytes{},
              fmt::format("our own use of device {} is taken for foreign", i));
    }
  }

  /// What could not be locked will be tried again.
  void hear_locks() {
    for (std::uint32_t i = 0; i < world_.devices().list().size(); ++i) {
      if (world_.driver().devices().locks()->obstacle(DeviceId{i}) != nullptr) {
        world_.host().wait_for("locks of devices");
        return;
      }
    }
  }

  void drain() {
    for (const DeviceId device : std::exchange(others_, {})) {
      world_.other_frees(device);
    }
    const Scheduler& view = world_.driver().view();
    for (int left = 1000; view.waiting() > 0 || !view.running().empty(); --left) {
      hear_locks();
      require(left > 0, fmt::format("{} jobs wait and {} run for ever", view.waiting(),
                                    view.running().size()));
      world_.turn();
      end_one();
      world_.turn();
      if (!reading_) {
        for (auto& [device, holders] : holders_) {
          holders.clear();
        }
        show_use();
        world_.begin_reading(false);
      }
      reading_ = false;
      world_.end_reading();
      world_.turn();
      world_.advance(world_.now() + std::chrono::seconds(1));
    }
    require(world_.driver().attempts().all().empty(), "an attempt is left of jobs that have ended");
    for (std::uint32_t i = 0; i < world_.devices().list().size(); ++i) {
      require(world_.other_could_take(DeviceId{i}), fmt::format("device {} is still locked", i));
    }
  }

  World world_;
  Random random_;
  bool lists_;
  bool reading_ = false;  // one has begun
  std::uint64_t submitted_ = 0;
  std::set<std::pair<JobId, std::uint16_t>> over_;
  std::map<std::uint32_t, std::map<std::string, Bytes>> holders_;  // by device
  std::set<DeviceId> others_;                                      // devices of the other instance
};

TEST(RandomDrive, HoldsForEverySeed) {
  const char* one = std::getenv("BERTH_SEED");
  const std::uint64_t first = one == nullptr ? 0 : std::strtoull(one, nullptr, 10);
  const std::uint64_t last = one == nullptr ? 6 : first + 1;
  for (std::uint64_t seed = first; seed < last; ++seed) {
    std::string problem;
    try {
      RandomDrive(seed).run(150);
    } catch (const Mistake& mistake) {
      problem = mistake.text;
    }
    ASSERT_EQ(problem, "") << "replay: BERTH_SEED=" << seed
                           << " build/test_drive --gtest_filter=RandomDrive.*";
  }
}

}  // namespace
}  // namespace berth
