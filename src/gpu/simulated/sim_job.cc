#include "gpu/simulated/sim_job.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "base/process_facts.h"
#include "base/signals.h"

namespace berth {
namespace {

using Clock = std::chrono::steady_clock;

/// The signals that end a job, held back so that they arrive where the job waits.
class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&set_);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
      if (!is_ignored(number)) {
        sigaddset(&set_, number);
      }
    }
    ::sigprocmask(SIG_BLOCK, &set_, &before_);
  }

  /// The signal that came before `deadline`, or 0.
  int wait_until(Clock::time_point deadline) const {
    while (true) {
      const auto left =
          std::max(Duration::zero(), std::chrono::duration_cast<Duration>(deadline - Clock::now()));
      const timespec timeout{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
      const int number = ::sigtimedwait(&set_, nullptr, &timeout);
      if (number > 0) {
        return number;
      }
      if (Clock::now() >= deadline) {
        return 0;
      }
    }
  }

  [[noreturn]] void die_by(int number) const {
    ::signal(number, SIG_DFL);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
    ::raise(number);
    ::_exit(128 + number);
  }

 private:
  sigset_t set_{};
  sigset_t before_{};
};

/// torch's way to write a size.
std::string torch_size(std::int64_t bytes) {
  const auto size = static_cast<double>(std::max<std::int64_t>(0, bytes));
  if (size <= 1 << 10) {
    return fmt::format("{} bytes", std::max<std::int64_t>(0, bytes));
  }
  if (size <= 1 << 20) {
    return fmt::format("{:.2f} KiB", size / (1 << 10));
  }
  return size <= 1 << 30 ? fmt::format("{:.2f} MiB", size / (1 << 20))
                         : fmt::format("{:.2f} GiB", size / (1 << 30));
}

/// This process's entries in the state file; freed with it.
class Holdings {
 public:
  Holdings(SimState& state, const std::vector<SimPart>& parts, const SimJobPlan& plan)
      : state_(state), parts_(parts), plan_(plan) {
    if (const auto self = read_proc_stat(::getpid())) {
      start_ = self->start;
    }
  }
  ~Holdings() {
    state_.locked([&](SimHeader&, std::span<SimRecord> records) {
      for (SimRecord& record : records) {
        for (SimProcess& process : record.processes) {
          if (process.pid == ::getpid()) {
            process.pid = 0;
          }
        }
      }
    });
  }
  Holdings(const Holdings&) = delete;
  Holdings& operator=(const Holdings&) = delete;

  /// Makes it `total` bytes on the device at `index`; false, with CUDA's words on stderr, where the
  /// device cannot give them.
  bool grow(std::size_t index, std::int64_t total) {
    const SimPart& part = parts_[index];
    const std::string complaint = state_.locked([&](SimHeader&, std::span<SimRecord> records) {
      return grow_record(records[part.record], part.slice, index, total);
    });
    if (!complaint.empty()) {
      fmt::print(stderr, "{}\n", complaint);
    }
    return complaint.empty();
  }

  /// How fast the job gets on: the slowest of its devices decides.
  double speed() const {
    return state_.locked([&](SimHeader&, std::span<SimRecord> records) {
      int wanted = 100;
      for (const SimPart& part : parts_) {
        wanted = std::max(wanted, sim_wanted_utilization(records[part.record]));
      }
      return 100.0 / wanted;
    });
  }

 private:
  std::string grow_record(SimRecord& record, int slice, std::size_t index, std::int64_t total) {
    if (record.lost != 0) {
      return "RuntimeError: CUDA error: unspecified launch failure (the device was lost)";
    }
    SimProcess* entry = find_entry(record, slice);
    if (entry == nullptr) {
      return "RuntimeError: CUDA error: too many processes on a simulated device";
    }
    const bool mine = entry->pid != 0;
    const std::int64_t held = mine ? entry->memory : 0;
    const std::int64_t free = (sim_memory(record, slice) - sim_used(record, slice)).count;
    if (total - held > free) {
      return fmt::format(
          "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate {} (GPU {}; {} total "
          "capacity; {} already allocated; {} free; {} reserved in total by PyTorch) If reserved "
          "memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.  "
          "See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF",
          torch_size(total - held), index, torch_size(sim_memory(record, slice).count),
          torch_size(held), torch_size(free), torch_size(held));
    }
    entry->slice = static_cast<std::int16_t>(slice);
    entry->via_mps = plan_.via_mps ? 1 : 0;
    entry->start = start_;
    entry->memory = total;
    entry->utilization = plan_.utilization;
    entry->milliwatts = static_cast<std::int32_t>(plan_.watts * 1000);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    entry->pid = ::getpid();
    return "";
  }

  /// This process's entry, else a free one, else none.
  static SimProcess* find_entry(SimRecord& record, int slice) {
    SimProcess* free = nullptr;
    for (SimProcess& process : record.processes) {
      if (process.pid == ::getpid() && process.slice == slice) {
        return &process;
      }
      if (process.pid == 0 && free == nullptr) {
        free = &process;
      }
    }
    return free;
  }

  SimState& state_;
  const std::vector<SimPart>& parts_;
  const SimJobPlan& plan_;
  std::uint64_t start_ = 0;
};

enum class Outcome { Done, Failed, Signalled };

struct End {
  Outcome outcome = Outcome::Done;
  int signal = 0;
};

/// The job itself: everything between its first allocation and its end.
class SimJob {
 public:
  SimJob(const EndSignals& signals, Holdings& holdings, std::size_t devices, const SimJobPlan& plan)
      : signals_(signals), holdings_(holdings), devices_(devices), plan_(plan) {}

  End run() {
    constexpr auto kStep = std::chrono::milliseconds(50);
    const std::int64_t steps = std::clamp<std::int64_t>(plan_.ramp / kStep, 1, 40);
    for (std::int64_t step = 1; step <= steps; ++step) {
      for (std::size_t device = 0; device < devices_; ++device) {
        const double share = static_cast<double>(step) / static_cast<double>(steps);
        const auto total =
            static_cast<std::int64_t>(static_cast<double>(plan_.memory.count) * share);
        if (!holdings_.grow(device, step == steps ? plan_.memory.count : total)) {
          return {Outcome::Failed, 0};
        }
      }
      if (step == steps) {
        announce();
      }
      if (const End end = wait_until(plan_.ramp * step / steps); end.outcome != Outcome::Done) {
        return end;
      }
    }
    return plan_.contends ? work() : wait_until(plan_.ramp + plan_.hold);
  }

 private:
  /// Until as much is done as in `hold` with the devices to itself.
  End work() {
    constexpr Duration kLook = std::chrono::milliseconds(20);
    Duration at = plan_.ramp;
    for (Duration left = plan_.hold; left > Duration::zero();) {
      const double speed = holdings_.speed();
      const auto needed =
          Duration(static_cast<std::int64_t>(static_cast<double>(left.count()) / speed));
      const Duration step = std::min(needed, kLook);
      at += step;
      if (const End end = wait_until(at); end.outcome != Outcome::Done) {
        return end;
      }
      left = step == needed ? Duration::zero()
                            : left - Duration(static_cast<std::int64_t>(
                                         static_cast<double>(step.count()) * speed));
    }
    return {};
  }

  /// Waits until `moment` after the start; not Done where the job ends before.
  End wait_until(Duration moment) const {
    const bool fails = plan_.fail_at && *plan_.fail_at <= moment;
    if (const int number = signals_.wait_until(began_ + (fails ? *plan_.fail_at : moment))) {
      return {Outcome::Signalled, number};
    }
    if (fails) {
      fmt::print(stderr, "RuntimeError: simulated failure after {}\n",
                 format_duration(*plan_.fail_at));
      return {Outcome::Failed, 0};
    }
    return {};
  }

  void announce() const {
    fmt::print("simjob {}: {} on {}\n", ::getpid(), format_bytes(plan_.memory),
               devices_ == 1 ? "its device" : fmt::format("each of {} devices", devices_));
    std::fflush(stdout);
  }

  const EndSignals& signals_;
  Holdings& holdings_;
  std::size_t devices_;
  const SimJobPlan& plan_;
  Clock::time_point began_ = Clock::now();
};

}  // namespace

int run_sim_job(SimState& state, const std::vector<SimPart>& visible, const SimJobPlan& plan) {
  if (visible.empty() && plan.memory.count > 0) {
    fmt::print(stderr, "RuntimeError: No CUDA GPUs are available\n");
    return 1;
  }
  const EndSignals signals;
  End end;
  {
    Holdings holdings(state, visible, plan);
    end = SimJob(signals, holdings, visible.size(), plan).run();
  }
  switch (end.outcome) {
    case Outcome::Done:
      return plan.exit_code;
    case Outcome::Failed:
      return 1;
    case Outcome::Signalled:
      signals.die_by(end.signal);
  }
  return 1;
}

}  // namespace berth
