#include "core/scenario.h"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <memory>
#include <sstream>
#include <vector>

#include "core/forecast.h"
#include "core/owners.h"
#include "core/scheduler.h"
#include "policy/policies.h"

namespace berth {
namespace {

using Words = std::vector<std::string>;

Words split(const std::string& text, char separator) {
  Words parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    if (!part.empty()) {
      parts.push_back(part);
    }
  }
  return parts;
}

/// The first mistake ends the scenario.
struct Mistake {
  std::string text;
};

template <class T>
T must(Result<T> result) {
  if (!result) {
    throw Mistake{result.error().message};
  }
  return *result;
}

class Scenario {
 public:
  void run(const std::string& text) {
    int number = 0;
    std::istringstream stream(text);
    try {
      for (std::string line; std::getline(stream, line);) {
        ++number;
        line = line.substr(0, line.find('#'));
        const Words words = split(line, ' ');
        if (!words.empty()) {
          execute(words, line);
        }
      }
      no_more_actions();
    } catch (const Mistake& mistake) {
      throw Mistake{fmt::format("line {}: {}", number, mistake.text)};
    }
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

  static void must_do(const Result<void>& done) {
    if (!done) {
      throw Mistake{"refused: " + done.error().message};
    }
  }

  static std::string seconds(Time time) {
    return time == kNever ? "?" : fmt::format("{:g}s", to_seconds(time.time_since_epoch()));
  }

  static void require(bool holds, const std::string& problem) {
    if (!holds) {
      throw Mistake{problem};
    }
  }

  bool set_up(const Words& words) {
    const std::string& verb = words[0];
    const auto options = key_values(words, 2);
    if (verb == "policy") {
      policy_name_ = words.at(1);
      for (const auto& [key, value] : options) {
        (key == "aging" ? priority_.aging : priority_.patience) = must(parse_duration(value));
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
        refusals_[words.at(1)].push_back(device(word));
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
      return scheduler().apply(Edit{id(words.at(1)), spec_of(words)}, now_);
    } else if (verb == "preempted") {
      scheduler().apply(JobPreempted{id(words.at(1))}, now_);
    } else if (verb == "lost") {
      scheduler().apply(JobLost{id(words.at(1))}, now_);
    } else if (verb == "remove") {
      scheduler().apply(DeviceChanged{device(words.at(1)), DeviceHealth::Removed});
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
          JobUse{id(words.at(1)), device(words.at(2)), must(parse_bytes(words.at(3)))}, now_);
    } else if (verb == "reclaim") {
      scheduler().apply(Reclaim{id(words.at(1)), must(parse_bytes(words.at(2)))});
    } else if (verb == "signal") {
      scheduler().apply(JobExited{id(words.at(1)), 0, std::stoi(words.at(2))}, now_);
    } else if (verb == "unstartable") {
      scheduler().apply(JobExited{id(words.at(1)), 127, 0, false}, now_);
    } else if (verb == "drain") {
      scheduler().apply(DeviceChanged{device(words.at(1)), DeviceHealth::Drained});
    } else if (verb == "lose") {
      scheduler().apply(DeviceChanged{device(words.at(1)), DeviceHealth::Lost});
    } else if (verb == "restore") {
      scheduler().apply(DeviceChanged{device(words.at(1)), DeviceHealth::Ok});
    } else if (verb == "taken") {
      scheduler().apply(DeviceTaken{device(words.at(1))});
    } else if (verb == "returned") {
      scheduler().apply(DeviceTaken{device(words.at(1)), false});
    } else if (verb == "foreign") {
      scheduler().apply(ForeignUse{device(words.at(1)), must(parse_bytes(words.at(2)))});
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
    const std::string& name = words.at(1);
    Submit command{spec_of(words)};
    bool array = false;
    for (const auto& [key, value] : key_values(words, 2)) {
      if (key == "array") {
        command.count = static_cast<std::uint32_t>(std::stoul(value));
        array = true;
      }
    }
    const Result<JobId> first = scheduler().apply(command, now_);
    if (!first) {
      return Failure(first.error());
    }
    for (std::uint32_t i = 0; i < command.count; ++i) {
      remember(array ? fmt::format("{}.{}", name, i) : name, JobId{first->value + i});
    }
    return {};
  }

  JobSpec spec_of(const Words& words) {
    JobSpec spec;
    for (const auto& [key, value] : key_values(words, 2)) {
      if (key == "gpus") {
        spec.needs.gpus = static_cast<std::uint32_t>(std::stoul(value));
      } else if (key == "mem") {
        spec.needs.memory = must(parse_bytes(value));
      } else if (key == "profile") {
        spec.needs.profile = must(parse_duration(value));
      } else if (key == "share") {
        spec.needs.share = static_cast<std::uint32_t>(std::stoul(value));
      } else if (key == "mps") {
        spec.needs.mps = mps_of(static_cast<std::uint32_t>(std::stoul(value)));
      } else if (key == "threads") {
        spec.needs.thread_percentage = static_cast<std::uint32_t>(std::stoul(value));
      } else if (key == "priority") {
        spec.priority = std::stoi(value);
      } else if (key == "owner") {
        spec.owner = owners_.of(value, 0);
      } else if (key == "weight") {
        spec.weight = static_cast<std::uint16_t>(std::stoul(value));
      } else if (key == "expected") {
        spec.expected = must(parse_duration(value));
      } else if (key == "limit") {
        spec.limit = must(parse_duration(value));
      } else if (key == "begin") {
        spec.begin = Time(must(parse_duration(value)));
      } else if (key == "retries") {
        spec.retry.most = static_cast<std::uint16_t>(std::stoul(value));
      } else if (key == "backoff") {
        spec.retry.backoff = must(parse_duration(value));
      } else if (key == "only") {
        spec.needs.only = split(value, ',');
      } else if (key == "exclude") {
        spec.needs.exclude = split(value, ',');
      } else if (key == "prefer") {
        spec.needs.prefer = split(value, ',');
      } else if (key == "model") {
        spec.needs.model = value;
      } else if (key == "held") {
        spec.held = true;
      } else if (key == "after") {
        spec.after = dependencies(value);
      } else if (key == "warn") {
        spec.warn_before = must(parse_duration(value));
      } else if (key == "requeue") {
        spec.retry.when_lost = true;
      } else if (key != "array") {
        throw Mistake{"unknown option " + key};
      }
    }
    return spec;
  }

  std::vector<Dependency> dependencies(const std::string& value) {
    std::vector<Dependency> after;
    for (const std::string& part : split(value, ',')) {
      const Words when = split(part, ':');
      after.push_back({id(when.at(1)), when[0] == "ok"    ? Dependency::When::Ok
                                       : when[0] == "any" ? Dependency::When::Any
                                                          : Dependency::When::NotOk});
    }
    return after;
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

  static std::vector<std::pair<std::string, std::string>> key_values(const Words& words,
                                                                     std::size_t from) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (std::size_t i = from; i < words.size(); ++i) {
      const std::size_t equals = words[i].find('=');
      pairs.emplace_back(words[i].substr(0, equals),
                         equals == std::string::npos ? "" : words[i].substr(equals + 1));
    }
    return pairs;
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

  void remember(const std::string& name, JobId job) {
    require(ids_.emplace(name, job).second, name + " exists already");
    names_.emplace(job, name);
  }
  JobId id(const std::string& name) const {
    const auto found = ids_.find(name);
    require(found != ids_.end(), "no job is called " + name);
    return found->second;
  }
  /// A job that starts in the very step in which it was submitted has a name by then.
  const std::string& name(JobId job) const { return names_.at(job); }
  static DeviceId device(const std::string& word) {
    return DeviceId{static_cast<std::uint32_t>(std::stoul(word))};
  }

  std::string policy_name_ = "priority";
  PriorityOptions priority_;
  Scheduler::Config config_;
  Duration guess_ = kForever;
  Owners owners_;
  std::unique_ptr<Scheduler> scheduler_;
  Time now_{};
  std::map<std::string, JobId> ids_;
  std::map<JobId, std::string> names_;
  std::deque<std::string> actions_;
  std::deque<JobId> started_;
  std::map<std::string, std::vector<DeviceId>> refusals_;  // of the next start, by name
};

}  // namespace

std::string run_scenario(const std::string& text) {
  try {
    Scenario().run(text);
  } catch (const Mistake& mistake) {
    return mistake.text;
  } catch (const std::exception& error) {
    return std::string("bad scenario: ") + error.what();
  }
  return "";
}

}  // namespace berth
