#include "core/scenario.h"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "core/forecast.h"
#include "core/scenario_words.h"
#include "core/scheduler.h"
#include "policy/policies.h"

namespace berth {
namespace {

class Scenario {
 public:
  /// Empty, or what was wrong.
  std::string run(const std::string& text) {
    return for_each_line(
        text, [this](const Words& words, const std::string& line) { execute(words, line); },
        [this] { no_more_actions(); });
  }

 private:
  void execute(const Words& words, const std::string& line) {
    const std::string& verb = words[0];
    if (verb == "expect") {
      expect(line.substr(line.find("expect") + 7));
    } else if (verb == "state") {
      const std::string actual(state_name(scheduler().find(id(words.at(1)))->state));
      require(actual == words.at(2), "it is " + actual);
    } else if (verb == "why") {
      const std::string why = describe(scheduler().explain(id(words.at(1)), now_), now_);
      const std::string wanted = line.substr(line.find(words.at(1)) + words[1].size() + 1);
      require(why.find(wanted) != std::string::npos, "the reason is: " + why);
    } else if (verb == "forecast") {
      const auto runs = scheduler().forecast(policy(), guess_, 100, now_).finish();
      const auto found = runs.find(id(words.at(1)));
      std::string actual = found == runs.end() ? "never" : seconds(found->second.start);
      if (words.size() > 3 && found != runs.end()) {  // to END on DEVICES
        std::vector<std::string> devices;
        for (const DeviceId device : found->second.devices) {
          devices.push_back(scheduler().devices()[device].spec.name);
        }
        actual += fmt::format(" to {} on {}", seconds(found->second.end), fmt::join(devices, ","));
      }
      const std::string wanted = fmt::format("{}", fmt::join(words.begin() + 2, words.end(), " "));
      require(actual == wanted, "it is expected at " + actual);
    } else if (set_up(words)) {
      return;
    } else {
      no_more_actions();
      if (verb == "at") {
        advance(Time(must(parse_duration(words.at(1)))));
      } else if (verb == "refused") {
        const Result<void> done = input(Words(words.begin() + 1, words.end()));
        require(!done, "it was not refused");
      } else {
        must_do(input(words));
      }
      step();
    }
  }

  static std::string seconds(Time time) {
    return time == kNever ? "?" : fmt::format("{:g}s", to_seconds(time.time_since_epoch()));
  }

  bool set_up(const Words& words) {
    const std::string& verb = words[0];
    const auto options = key_values(words, 2);
    if (verb == "policy") {
      policy_name_ = words.at(1);
      for (const auto& [key, value] : options) {
        (key == "aging" ? priority_.aging : priority_.backfill.patience) =
            must(parse_duration(value));
      }
    } else if (verb == "placement") {
      config_.placement = must(parse_placement(words.at(1)));
    } else if (verb == "enforce") {
      config_.enforce_claims = true;
    } else if (verb == "grace") {
      config_.grace = must(parse_duration(words.at(1)));
    } else if (verb == "guess") {
      guess_ = must(parse_duration(words.at(1)));
    } else if (verb == "refuse") {
      for (const std::string& word : split(words.at(2), ',')) {
        refusals_[words.at(1)].push_back(device_in(word));
      }
    } else if (verb == "cpus") {
      config_.limits.cpu_slots = static_cast<std::uint32_t>(std::stoul(words.at(1)));
    } else if (verb == "devices") {
      for (int n = std::stoi(words.at(1)); n > 0; --n) {
        DeviceSpec spec;
        spec.name = std::to_string(scheduler().devices().size());
        for (const auto& [key, value] : options) {
          if (key == "mem") {
            spec.memory = must(parse_bytes(value));
          } else if (key == "model") {
            spec.model = value;
          } else if (key == "island") {
            spec.locality.island = static_cast<std::uint16_t>(std::stoi(value));
          } else if (key == "watts") {
            const auto watts = split(value, '-');
            spec.power = {std::stod(watts.at(0)), std::stod(watts.at(1))};
          } else if (key == "numa") {
            spec.locality.numa = static_cast<std::uint16_t>(std::stoi(value));
          } else {
            throw Mistake{"unknown option " + key};
          }
        }
        scheduler().add_device(spec);
      }
    } else {
      return false;
    }
    return true;
  }

  Result<void> input(const Words& words) {
    const std::string& verb = words[0];
    if (verb == "submit") {
      return submit(words);
    }
    if (verb == "switch") {
      policy_name_ = words.at(1);
      scheduler().set_policy(policy(), scheduler().placement());
    } else if (verb == "pause") {
      scheduler().apply(Pause{});
    } else if (verb == "resume") {
      scheduler().apply(Resume{});
    } else if (verb == "cancel") {
      return scheduler().apply(Cancel{id(words.at(1))}, now_);
    } else if (verb == "edit") {
      return scheduler().apply(Edit{id(words.at(1)), jobs_.spec_of(words)}, now_);
    } else if (verb == "preempted") {
      scheduler().apply(JobPreempted{id(words.at(1))}, now_);
    } else if (verb == "lost") {
      scheduler().apply(JobLost{id(words.at(1))}, now_);
    } else if (verb == "remove") {
      scheduler().apply(DeviceChanged{device_in(words.at(1)), DeviceHealth::Removed});
    } else if (verb == "hold") {
      return scheduler().apply(Hold{id(words.at(1))}, now_);
    } else if (verb == "release") {
      return scheduler().apply(Release{id(words.at(1))}, now_);
    } else if (verb == "exit") {
      scheduler().apply(JobExited{id(words.at(1)), std::stoi(words.at(2))}, now_);
    } else if (verb == "oom") {
      scheduler().apply(JobExited{id(words.at(1)), 1, 0, true, memory_end(words)}, now_);
    } else if (verb == "profiled") {
      const MemoryEnd seen{{}, must(parse_bytes(words.at(2)))};
      scheduler().apply(JobExited{id(words.at(1)), 0, 15, true, seen}, now_);
    } else if (verb == "use") {
      scheduler().apply(
          JobUse{id(words.at(1)), device_in(words.at(2)), must(parse_bytes(words.at(3)))}, now_);
    } else if (verb == "reclaim") {
      scheduler().apply(Reclaim{id(words.at(1)), must(parse_bytes(words.at(2)))});
    } else if (verb == "reestimate") {
      scheduler().apply(Reestimate{id(words.at(1)), must(parse_duration(words.at(2)))});
    } else if (verb == "signal") {
      scheduler().apply(JobExited{id(words.at(1)), 0, std::stoi(words.at(2))}, now_);
    } else if (verb == "unstartable") {
      scheduler().apply(JobExited{id(words.at(1)), 127, 0, false}, now_);
    } else if (verb == "drain") {
      scheduler().apply(DeviceChanged{device_in(words.at(1)), DeviceHealth::Drained});
    } else if (verb == "lose") {
      scheduler().apply(DeviceChanged{device_in(words.at(1)), DeviceHealth::Lost});
    } else if (verb == "restore") {
      scheduler().apply(DeviceChanged{device_in(words.at(1)), DeviceHealth::Ok});
    } else if (verb == "taken") {
      scheduler().apply(DeviceTaken{device_in(words.at(1))});
    } else if (verb == "returned") {
      scheduler().apply(DeviceTaken{device_in(words.at(1)), false});
    } else if (verb == "foreign") {
      scheduler().apply(ForeignUse{device_in(words.at(1)), must(parse_bytes(words.at(2)))});
    } else {
      throw Mistake{"unknown word " + verb};
    }
    return {};
  }

  MemoryEnd memory_end(const Words& words) {
    MemoryEnd end;
    for (std::size_t i = 2; i < words.size(); ++i) {
      const std::string& word = words[i];
      const std::string value = word.substr(std::min(word.find('=') + 1, word.size()));
      if (word == "foreign") {
        end.blame.cause = MemoryCause::Foreign;
      } else if (word.starts_with("neighbour=")) {
        end.blame = {MemoryCause::Neighbour, id(value)};
      } else if (word.starts_with("wanted=")) {
        end.wanted = must(parse_bytes(value));
      } else if (word != "own") {
        throw Mistake{"unknown word " + word};
      }
    }
    return end;
  }

  Result<void> submit(const Words& words) {
    const std::uint32_t array = ScenarioJobs::array_in(words);
    const Submit command{jobs_.spec_of(words), {}, std::max(array, 1U)};
    const Result<JobId> first = scheduler().apply(command, now_);
    if (!first) {
      return Failure(first.error());
    }
    for (std::uint32_t i = 0; i < command.count; ++i) {
      jobs_.remember(array > 0 ? fmt::format("{}.{}", words.at(1), i) : words.at(1),
                     JobId{first->value + i});
    }
    return {};
  }

  void advance(Time until) {
    require(until >= now_, "time does not go back");
    while (scheduler().wake_at() <= until) {
      now_ = std::max(now_, scheduler().wake_at());
      step();
    }
    now_ = until;
  }

  void step() {
    for (const Action& action : scheduler().step(now_)) {
      actions_.push_back(std::visit([this](const auto& what) { return words_for(what); }, action));
      if (const auto* start = std::get_if<StartJob>(&action)) {
        started_.push_back(start->job);
      }
    }
    bool refused = false;
    for (; !started_.empty(); started_.pop_front()) {
      const JobId job = started_.front();
      if (auto refusal = refusals_.extract(name(job))) {
        scheduler().apply(StartRefused{job, refusal.mapped()}, now_);
        refused = true;
      } else {
        scheduler().apply(JobStarted{job}, now_);
      }
    }
    if (refused) {
      step();
      return;
    }
    const std::string broken = scheduler().broken_invariant(now_);
    require(broken.empty(), "invariant: " + broken);
  }

  std::string words_for(const StartJob& start) {
    Words devices;
    for (const DeviceId device : start.devices) {
      devices.push_back(std::to_string(device.value));
    }
    return fmt::format("start {} on {}", name(start.job),
                       devices.empty() ? "cpu" : fmt::format("{}", fmt::join(devices, ",")));
  }
  std::string words_for(const StopJob& stop) {
    return fmt::format("{} {}", stop.how == StopJob::How::Ask ? "stop" : "kill", name(stop.job));
  }
  std::string words_for(const WarnJob& warn) { return "warn " + name(warn.job); }
  std::string words_for(const PreemptJob& preempt) { return "preempt " + name(preempt.job); }
  std::string words_for(const JobEnded& end) {
    return fmt::format("end {} {}", name(end.job), state_name(scheduler().find(end.job)->state));
  }
  std::string words_for(const JobRequeued& requeued) {
    return fmt::format("requeue {}", name(requeued.job));
  }

  void expect(std::string wanted) {
    wanted.erase(wanted.find_last_not_of(' ') + 1);
    require(!actions_.empty(), "nothing happened");
    require(actions_.front() == wanted, "what happened is: " + actions_.front());
    actions_.pop_front();
  }

  void no_more_actions() {
    require(actions_.empty(), actions_.empty() ? "" : "not expected: " + actions_.front());
  }

  Scheduler& scheduler() {
    if (scheduler_ == nullptr) {
      scheduler_ = std::make_unique<Scheduler>(policy(), config_);
    }
    return *scheduler_;
  }

  std::unique_ptr<Policy> policy() const {
    if (policy_name_ == "priority") {
      return make_priority(priority_);
    }
    auto made = make_policy(policy_name_);
    require(made.has_value(), "no such policy");
    return std::move(*made);
  }

  JobId id(const std::string& name) const { return jobs_.id(name); }
  /// A job that starts in the very step in which it was submitted has a name by then.
  const std::string& name(JobId job) const { return jobs_.name(job); }

  std::string policy_name_ = "priority";
  PriorityOptions priority_;
  Scheduler::Config config_;
  Duration guess_ = kForever;
  ScenarioJobs jobs_;
  std::unique_ptr<Scheduler> scheduler_;
  Time now_{};
  std::deque<std::string> actions_;
  std::deque<JobId> started_;
  std::map<std::string, std::vector<DeviceId>> refusals_;  // of the next start, by name
};

}  // namespace

std::string run_scenario(const std::string& text) { return Scenario().run(text); }

}  // namespace berth
