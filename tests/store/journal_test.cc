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
  spec.priority = any<std::int32_t>(random);
  spec.weight = any<std::uint16_t>(random);
  spec.expected = Duration(any<std::int64_t>(random));
  spec.limit = Duration(any<std::int64_t>(random));
  spec.warn_before = Duration(any<std::int64_t>(random));
  spec.begin = Time(Duration(any<std::int64_t>(random)));
  spec.retry.most = any<std::uint16_t>(random);
  spec.retry.when_lost = random.below(2) == 0;
  return spec;
}

JournalInput any_input(Random& random) {
  const JobId job{any<std::uint64_t>(random)};
  const DeviceId device{any<std::uint32_t>(random)};
  const std::vector<JournalInput> all = {
      Submitted{job, any<std::uint32_t>(random)},
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
      Restarted{"priority", {}, static_cast<ChargedTo>(random.below(2))},
      Restored{job, any<std::uint32_t>(random), random.below(2) == 0,
               Time(Duration(any<std::int64_t>(random))), any<std::uint16_t>(random),
               random.below(2) == 0 ? std::optional<Running>()
                                    : Running{{device, DeviceId{1}},
                                              Time(Duration(any<std::int64_t>(random))),
                                              Stopping::TimeLimit},
               random.below(2) == 0},
      Edited{job, any_spec(random), any_spec(random)},
      DeviceTaken{device, random.below(2) == 0},
      StartRefused{job, {device, DeviceId{3}}},
      Reclaim{job, gibibytes(3)},
      JobUse{job, device, gibibytes(4)},
      PolicyChanged{"energy:900", static_cast<Placement>(random.below(5))},
      JobExited{job, 1, 0, true, MemoryEnd{{MemoryCause::Neighbour, JobId{8}}, gibibytes(5)}}};
  EXPECT_EQ(all.size(), std::variant_size_v<JournalInput> + 1);  // one kind comes in two forms
  return all[random.below(all.size())];
}

struct Show {
  std::string operator()(const Submitted& i) const {
    return fmt::format("{} {}", i.first.value, i.count);
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
    return fmt::format("{} {}", i.policy, static_cast<int>(i.charged_to));
  }
  std::string operator()(const PolicyChanged& i) const {
    return fmt::format("{} {}", i.policy, static_cast<int>(i.placement));
  }
  std::string operator()(const Restored& i) const {
    std::string shown = fmt::format("{} {} {} {} {}", i.first.value, i.count, i.held,
                                    i.not_before.time_since_epoch().count(), i.attempt);
    if (i.running) {
      shown += fmt::format(" {} {} since {}", i.starting, static_cast<int>(i.running->stopping),
                           i.running->since.time_since_epoch().count());
      for (const DeviceId device : i.running->devices) {
        shown += fmt::format(" {}", device.value);
      }
    }
    return shown;
  }
  std::string operator()(const Edited& i) const {
    return fmt::format("{} {} {}", i.job.value, text(i.before), text(i.after));
  }
  std::string operator()(const DeviceTaken& i) const {
    return fmt::format("{} {}", i.device.value, i.taken);
  }
  std::string operator()(const Reclaim& i) const {
    return fmt::format("{} {}", i.job.value, i.memory.count);
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
    EXPECT_EQ(store_->next_entry(), written.size() + 1);
    ASSERT_TRUE(store_->append(time, input));
    written.emplace_back(time, text(input));
    if (random.below(50) == 0) {
      ASSERT_TRUE(store_->commit());
      open();
    }
  }
  std::uint64_t next = 1;
  while (next <= written.size()) {
    const std::vector<JournalEntry> entries = *store_->journal(next, 64);
    ASSERT_FALSE(entries.empty());
    for (const JournalEntry& entry : entries) {
      ASSERT_EQ(entry.number, next);
      ASSERT_EQ(entry.time, written[next - 1].first);
      ASSERT_EQ(text(entry.input), written[next - 1].second);
      ++next;
    }
  }
  EXPECT_TRUE(store_->journal(next, 64)->empty());

  ASSERT_TRUE(store_->forget_journal_before(990));
  EXPECT_EQ(store_->journal(1, 64)->front().number, 990u);
  ASSERT_TRUE(store_->forget_journal_before(5000));
  ASSERT_TRUE(store_->commit());
  open();
  EXPECT_TRUE(store_->journal(1, 64)->empty());
  EXPECT_EQ(store_->next_entry(), 1001u);  // numbers are never given twice
}

}  // namespace
}  // namespace berth
