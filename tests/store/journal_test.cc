// The input journal.
#include "store/journal.h"

#include <limits>

#include "base/random.h"
#include "store/fixture.h"

namespace berth {
namespace {

template <class T>
T any(Random& random) {
  switch (random.below(4)) {
    case 0:
      return 0;
    case 1:
      return std::numeric_limits<T>::max();
    case 2:
      return std::numeric_limits<T>::min();
    default:
      return static_cast<T>(random.next() >> random.below(64));
  }
}

JobSpec any_spec(Random& random) {
  JobSpec spec;
  spec.needs.gpus = any<std::uint32_t>(random);
  spec.needs.only = {"0", "GPU-ü"};
  spec.priority = static_cast<std::int32_t>(random.below(2 * kMostPriority + 1)) - kMostPriority;
  spec.weight = std::max<std::uint16_t>(1, any<std::uint16_t>(random));
  spec.expected = Duration(any<std::int64_t>(random));
  spec.limit = Duration(any<std::int64_t>(random));
  spec.warn_before = Duration(any<std::int64_t>(random));
  spec.begin = Time(Duration(any<std::int64_t>(random)));
  spec.retry.most = any<std::uint16_t>(random);
  spec.retry.when_lost = random.below(2) == 0;
  spec.owner = OwnerId{any<std::uint32_t>(random)};
  spec.held = random.below(2) == 0;
  if (random.below(2) == 0) {
    spec.after = {{JobId{any<std::uint64_t>(random)}, Dependency::When::NotOk}, {JobId{3}}};
  }
  return random.below(4) == 0 ? JobSpec{} : spec;
}

Time any_time(Random& random) { return Time(Duration(any<std::int64_t>(random))); }

Restored any_restored(Random& random) {
  Restored input{
      Restore{JobId{any<std::uint64_t>(random)}, any_spec(random), any_time(random),
              any<std::uint16_t>(random), std::nullopt, false, any<std::uint8_t>(random)},
      any<std::uint32_t>(random)};
  if (random.below(2) == 0) {
    input.first.standing = Standing{};
  }
  const bool ranked = input.first.standing && random.below(2) == 0;
  if (ranked) {
    input.first.standing->rank = any<Rank>(random);
  }
  if (random.below(2) == 0) {
    input.first.running = Running{
        {DeviceId{any<std::uint32_t>(random)}, DeviceId{1}}, any_time(random), Stopping::TimeLimit};
    input.first.starting = random.below(2) == 0;
    if (input.first.standing) {
      input.first.standing->timer = any_time(random);
      input.first.standing->used = {Bytes{any<std::int64_t>(random)}, Bytes{}};
    }
  }
  for (std::uint64_t n = random.below(4); n > 0; --n) {
    input.more.push_back({any<std::uint32_t>(random), any_time(random),
                          ranked ? std::optional(any<Rank>(random)) : std::nullopt});
  }
  return input;
}

CheckpointDone any_checkpoint(Random& random) {
  CheckpointDone done{{"energy:900", {}}, {}, {random.below(2) == 0, random.below(500), {}}};
  for (std::uint64_t n = random.below(3); n > 0; --n) {
    done.devices.push_back({{"0", "GPU-ü", "m", gibibytes(8), {}},
                            DeviceHealth::Lost,
                            Bytes{any<std::int64_t>(random)},
                            random.below(2) == 0,
                            {}});
    done.books.policy.push_back(any<std::int64_t>(random));
  }
  return done;
}

JournalInput any_input(Random& random) {
  const JobId job{any<std::uint64_t>(random)};
  const DeviceId device{any<std::uint32_t>(random)};
  const std::vector<JournalInput> all = {
      Submit{any_spec(random), job, any<std::uint32_t>(random), true},
      Cancel{job},
      Hold{job},
      Release{job},
      Pause{},
      Resume{},
      JobStarted{job},
      JobExited{job, any<int>(random), any<int>(random), random.below(2) == 0},
      DeviceChanged{device, static_cast<DeviceHealth>(random.below(3))},
      ForeignUse{device, Bytes{any<std::int64_t>(random)}},
      DeviceAdded{{std::string(1, '\0'),
                   "GPU-ü",
                   std::string(random.below(300), 'm'),
                   Bytes{any<std::int64_t>(random)},
                   {any<std::uint16_t>(random), 0, any<std::uint16_t>(random)},
                   {0.001, static_cast<double>(random.below(100'000)) / 1000}}},
      Stepped{},
      JobLost{job},
      Restarted{"priority"},
      any_restored(random),
      Edit{job, any_spec(random)},
      CheckpointBegun{},
      JobsGone{{job, JobId{7}}},
      any_checkpoint(random),
      DeviceTaken{device, random.below(2) == 0},
      StartRefused{job, {device, DeviceId{3}}},
      Reclaim{job, gibibytes(3)},
      Reestimate{job, Duration(any<std::int64_t>(random))},
      JobUse{job, device, gibibytes(4)},
      PolicyChanged{"energy:900", static_cast<Placement>(random.below(5))},
      JobExited{job, 1, 0, true, MemoryEnd{{MemoryCause::Neighbour, JobId{8}}, gibibytes(5)}}};
  EXPECT_EQ(all.size(), std::variant_size_v<JournalInput> + 1);  // one kind comes in two forms
  return all[random.below(all.size())];
}

struct Show {
  std::string operator()(const Submit& i) const {
    return fmt::format("{} {} {}", i.id.value, i.count, all(i.spec));
  }
  static std::string all(const JobSpec& spec) {
    return fmt::format("{} warn {} owner {} lost {}", text(spec), spec.warn_before.count(),
                       spec.owner.value, spec.retry.when_lost);
  }
  std::string operator()(const JobExited& i) const {
    return fmt::format(
        "{} {} {} {} {}", i.job.value, i.exit_code, i.signal, i.started,
        i.memory ? fmt::format("{} {}", describe(*i.memory), i.memory->wanted.count) : "");
  }
  std::string operator()(const DeviceChanged& i) const {
    return fmt::format("{} {}", i.device.value, static_cast<int>(i.health));
  }
  std::string operator()(const ForeignUse& i) const {
    return fmt::format("{} {}", i.device.value, i.memory.count);
  }
  std::string operator()(const DeviceAdded& i) const {
    const DeviceSpec& d = i.device;
    return fmt::format("{} {} {} {} {} {} {} {} {}", d.name, d.uuid, d.model, d.memory.count,
                       d.locality.node, d.locality.numa, d.locality.island, d.power.idle,
                       d.power.busy);
  }
  std::string operator()(const Cancel& i) const { return std::to_string(i.job.value); }
  std::string operator()(const Hold& i) const { return std::to_string(i.job.value); }
  std::string operator()(const Release& i) const { return std::to_string(i.job.value); }
  std::string operator()(const JobStarted& i) const { return std::to_string(i.job.value); }
  std::string operator()(const JobLost& i) const { return std::to_string(i.job.value); }
  std::string operator()(const Restarted& i) const {
    return fmt::format("{} {}", i.policy, i.config.grace.count());
  }
  std::string operator()(const PolicyChanged& i) const {
    return fmt::format("{} {}", i.policy, static_cast<int>(i.placement));
  }
  std::string operator()(const Restored& i) const {
    const Restore& job = i.first;
    std::string shown = fmt::format("{} {} {} {} {} {}", job.id.value, i.count,
                                    job.submitted.time_since_epoch().count(), job.attempt,
                                    job.memory_retries, all(job.spec));
    if (job.running) {
      shown += fmt::format(" {} {} since {}", job.starting, static_cast<int>(job.running->stopping),
                           job.running->since.time_since_epoch().count());
      for (const DeviceId device : job.running->devices) {
        shown += fmt::format(" {}", device.value);
      }
    }
    if (job.standing) {
      shown += fmt::format(" stands {} rank {}", job.standing->timer.time_since_epoch().count(),
                           job.standing->rank.value_or(-7));
      for (const Bytes used : job.standing->used) {
        shown += fmt::format(" {}", used.count);
      }
    }
    for (const Restored::More& more : i.more) {
      shown += fmt::format(" more {} {} {}", more.count, more.submitted.time_since_epoch().count(),
                           more.rank.value_or(-7));
    }
    return shown;
  }
  std::string operator()(const Edit& i) const {
    return fmt::format("{} {}", i.job.value, all(i.spec));
  }
  std::string operator()(const CheckpointBegun&) const { return ""; }
  std::string operator()(const JobsGone& i) const {
    std::string shown;
    for (const JobId job : i.jobs) {
      shown += fmt::format(" {}", job.value);
    }
    return shown;
  }
  std::string operator()(const CheckpointDone& i) const {
    std::string shown = fmt::format("{} {} {} {}", (*this)(i.scheduler), i.books.paused,
                                    i.books.settled, i.books.policy);
    for (const DeviceSlot& slot : i.devices) {
      shown += fmt::format(" [{} {} {} {}]", (*this)(DeviceAdded{slot.spec}),
                           static_cast<int>(slot.health), slot.foreign.count, slot.taken);
    }
    return shown;
  }
  std::string operator()(const DeviceTaken& i) const {
    return fmt::format("{} {}", i.device.value, i.taken);
  }
  std::string operator()(const Reclaim& i) const {
    return fmt::format("{} {}", i.job.value, i.memory.count);
  }
  std::string operator()(const Reestimate& i) const {
    return fmt::format("{} {}", i.job.value, i.expected.count());
  }
  std::string operator()(const JobUse& i) const {
    return fmt::format("{} {} {}", i.job.value, i.device.value, i.memory.count);
  }
  std::string operator()(const StartRefused& i) const {
    std::string shown = std::to_string(i.job.value);
    for (const DeviceId device : i.taken) {
      shown += fmt::format(" {}", device.value);
    }
    return shown;
  }
  std::string operator()(const Pause&) const { return ""; }
  std::string operator()(const Resume&) const { return ""; }
  std::string operator()(const Stepped&) const { return ""; }
};

std::string text(const JournalInput& input) {
  return fmt::format("{}: {}", input.index(), std::visit(Show{}, input));
}

TEST(JournalTest, InputsComeBackAndDamageIsSeen) {
  Random random(11);
  for (int i = 0; i < 5000; ++i) {
    const JournalInput input = any_input(random);
    const std::string bytes = encode_input(input);
    const std::optional<JournalInput> back = decode_input(bytes);
    ASSERT_TRUE(back) << text(input);
    ASSERT_EQ(text(*back), text(input));
    EXPECT_FALSE(decode_input(bytes.substr(0, bytes.size() - 1)));
    EXPECT_FALSE(decode_input(bytes + "x"));
  }
  EXPECT_FALSE(decode_input(""));
  // A rank could not be reckoned from it.
  JobSpec beyond;
  beyond.priority = kMostPriority + 1;
  EXPECT_FALSE(decode_input(encode_input(Submit{beyond})));
  EXPECT_FALSE(decode_input("\x7f"));
  for (int i = 0; i < 20'000; ++i) {
    std::string noise(random.below(20), ' ');
    for (char& c : noise) {
      c = static_cast<char>(random.below(random.below(2) == 0 ? 256 : 14));
    }
    (void)decode_input(noise).has_value();  // must end, and touch nothing it should not
  }
}

TEST_F(StoreTest, JournalIsReadInOrderAndCut) {
  open();
  Random random(13);
  std::vector<std::pair<Time, std::string>> written;
  for (int i = 0; i < 1000; ++i) {
    const Time time(Duration(any<std::int64_t>(random)));
    const JournalInput input = any_input(random);
    EXPECT_EQ(store_->journal().next_entry(), written.size() + 1);
    ASSERT_TRUE(store_->journal().append(time, input));
    written.emplace_back(time, text(input));
    if (random.below(50) == 0) {
      ASSERT_TRUE(store_->commit());
      open();
    }
  }
  std::uint64_t next = 1;
  while (next <= written.size()) {
    const std::vector<JournalEntry> entries = *store_->journal().entries(next, 64);
    ASSERT_FALSE(entries.empty());
    for (const JournalEntry& entry : entries) {
      ASSERT_EQ(entry.number, next);
      ASSERT_EQ(entry.time, written[next - 1].first);
      ASSERT_EQ(text(entry.input), written[next - 1].second);
      ++next;
    }
  }
  EXPECT_TRUE(store_->journal().entries(next, 64)->empty());

  ASSERT_TRUE(store_->journal().forget_before(990));
  EXPECT_EQ(store_->journal().entries(1, 64)->front().number, 990u);
  ASSERT_TRUE(store_->journal().forget_before(5000));
  ASSERT_TRUE(store_->commit());
  open();
  EXPECT_TRUE(store_->journal().entries(1, 64)->empty());
  EXPECT_EQ(store_->journal().next_entry(), 1001u);  // numbers are never given twice
}

TEST_F(StoreTest, PartsOfTheJournal) {
  open();
  const auto parts = [&] {
    std::vector<std::uint64_t> firsts;
    const std::vector<JournalPart> found = *store_->journal().parts();
    for (const JournalPart& part : found) {
      EXPECT_GT(part.bytes, 0U);
      firsts.push_back(part.first);
    }
    return firsts;
  };
  const auto append = [&](const JournalInput& input) {
    ASSERT_TRUE(store_->journal().append(at(0), input));
  };
  EXPECT_EQ(parts(), std::vector<std::uint64_t>{});
  append(Stepped{});  // 1
  append(Restarted{"fifo"});
  append(Stepped{});
  append(CheckpointBegun{});  // 4
  append(Stepped{});
  EXPECT_EQ(parts(), (std::vector<std::uint64_t>{1, 2}));  // it is not done
  append(CheckpointDone{{"fifo"}, {}, {}});
  append(Stepped{});
  EXPECT_EQ(parts(), (std::vector<std::uint64_t>{1, 2, 4}));
  append(CheckpointBegun{});  // 8
  append(CheckpointBegun{});  // and anew
  append(CheckpointDone{{"fifo"}, {}, {}});
  append(CheckpointBegun{});  // never done
  append(Restarted{"fifo"});  // 12
  append(CheckpointDone{{"fifo"}, {}, {}});
  EXPECT_EQ(parts(), (std::vector<std::uint64_t>{1, 2, 4, 9, 12}));
  std::uint64_t bytes = 0;
  const std::vector<JournalPart> all = *store_->journal().parts();
  for (const JournalPart& part : all) {
    bytes += part.bytes;
  }
  EXPECT_EQ(bytes, store_->journal().appended_bytes());
}

TEST_F(StoreTest, WhatIsForgottenIsGivenBack) {
  open();
  constexpr std::uint32_t kJobs = 20'000;
  ASSERT_TRUE(store_->jobs().insert(JobId{1}, kJobs, job_named("many"), at(0)));
  for (std::uint32_t i = 1; i <= kJobs; ++i) {
    ASSERT_TRUE(store_->journal().append(at(0), Stepped{}));
    ASSERT_TRUE(store_->jobs().end(JobId{i}, ending(Outcome::Succeeded, at(1))));
  }
  ASSERT_TRUE(store_->commit());
  const auto size = [&] { return std::filesystem::file_size(path_); };
  open();
  const std::uintmax_t full = size();
  EXPECT_GT(full, 2'000'000U);
  ForgetQuery all;
  all.limit = kJobs;
  ASSERT_TRUE(store_->jobs().forget(all));
  ASSERT_TRUE(store_->journal().forget_before(store_->journal().next_entry()));
  ASSERT_TRUE(store_->commit());
  int steps = 0;
  while (*store_->give_back()) {
    ASSERT_LT(++steps, 10'000);
    // Others write meanwhile, and nobody takes the smaller file for a damaged one.
    ASSERT_TRUE(store_->journal().append(at(2), Stepped{}));
    ASSERT_TRUE(store_->commit());
  }
  EXPECT_GT(steps, 10);
  ASSERT_TRUE(store_->commit());
  open();
  EXPECT_LT(size(), full / 3);
  EXPECT_EQ(store_->journal().entries(1, 1000)->size(),
            std::min(std::size_t{1000}, static_cast<std::size_t>(steps)));
  EXPECT_EQ(store_->jobs().next_id(), JobId{kJobs + 1});
}

TEST_F(StoreTest, AFileThatBecameShorterAndIsWantedLongerAgainIsNotDamaged) {
  open();
  constexpr std::uint32_t kJobs = 20'000;
  ASSERT_TRUE(store_->jobs().insert(JobId{1}, kJobs, job_named("many"), at(0)));
  for (std::uint32_t i = 1; i <= kJobs; ++i) {
    ASSERT_TRUE(store_->jobs().end(JobId{i}, ending(Outcome::Succeeded, at(1))));
  }
  ASSERT_TRUE(store_->commit());
  open();
  ForgetQuery all;
  all.limit = kJobs;
  ASSERT_TRUE(store_->jobs().forget(all));
  ASSERT_TRUE(store_->commit());
  while (*store_->give_back()) {
  }
  // Between two looks at the file it was cut, and a commit has made the database long again.
  ASSERT_TRUE(store_->jobs().insert(JobId{kJobs + 1}, 2 * kJobs, job_named("more"), at(2)));
  const Result<void> committed = store_->commit();
  EXPECT_TRUE(committed) << committed.error().message;
}

}  // namespace
}  // namespace berth
