#include "drive/drive_scenario.h"

#include <fmt/format.h>

#include <algorithm>

#include "drive/world.h"

namespace berth {
namespace {

class DriveScenario {
 public:
  std::string run(const std::string& text) {
    return for_each_line(
        text, [this](const Words& words, const std::string& line) { execute(words, line); },
        [this] {
          nothing_more();
          world_.check_replay();
        });
  }

 private:
  void execute(const Words& words, const std::string& line) {
    if (words[0] == "expect") {
      expect(fmt::format("{}", fmt::join(words.begin() + 1, words.end(), " ")));
      return;
    }
    if (set_up(words) || look(words, line)) {
      return;
    }
    nothing_more();
    if (words[0] == "refused") {
      const Words refused(words.begin() + 1, words.end());
      require(!command(refused).value_or(Result<void>{}), "it was not refused");
    } else if (const std::optional<Result<void>> done = command(words)) {
      must_do(*done);
    } else {
      require(attempt(words, line) || device(words) || mps(words), "unknown word " + words[0]);
    }
    world_.turn();
  }

  bool set_up(const Words& words) {
    const std::string& verb = words[0];
    if (verb == "policy") {
      world_.options().policy = words.at(1);
    } else if (verb == "grace") {
      world_.options().config.grace = must(parse_duration(words.at(1)));
    } else if (verb == "enforce") {
      world_.options().config.enforce_claims = true;
    } else if (verb == "claims") {
      world_.options().claims_at_once = number_in(words.at(1));
    } else if (verb == "learn") {
      world_.learn();
    } else if (verb == "unread") {
      world_.without_readings();
    } else if (verb == "unlisted") {
      world_.without_processes();
    } else if (verb == "devices") {
      for (std::uint32_t n = number_in(words.at(1)); n > 0; --n) {
        DeviceSpec spec;
        spec.name = std::to_string(world_.devices().list().size());
        for (const auto& [key, value] : key_values(words, 2)) {
          require(key == "mem", "unknown option " + key);
          spec.memory = must(parse_bytes(value));
        }
        world_.add_device(spec);
      }
    } else {
      return plan(words);
    }
    return true;
  }

  /// How the next attempt of a job starts.
  bool plan(const Words& words) {
    const std::map<std::string, FakeHost::Start> plans = {
        {"late", FakeHost::Start::Late},
        {"failing", FakeHost::Start::Fails},
        {"unstartable", FakeHost::Start::Impossible}};
    const auto found = plans.find(words[0]);
    if (found == plans.end()) {
      return false;
    }
    world_.host().plan(words.at(1), found->second);
    return true;
  }

  bool look(const Words& words, const std::string& line) {
    const std::string& verb = words[0];
    const Scheduler& view = world_.driver().view();
    std::string actual;
    std::string wanted = words.back();
    if (verb == "state") {
      actual = state_name(view.find(id(words.at(1)))->state);
    } else if (verb == "claim") {
      actual = format_bytes(view.needs(*view.find(id(words.at(1)))).memory);
      wanted = format_bytes(must(parse_bytes(wanted)));
    } else if (verb == "length") {
      const Duration length = view.find(id(words.at(1)))->expected;
      actual = length == kForever ? "forever" : format_duration(length);
      wanted = wanted == "forever" ? wanted : format_duration(must(parse_duration(wanted)));
    } else if (verb == "foreign") {
      actual = format_bytes(view.devices()[device_in(words.at(1))].foreign);
      wanted = format_bytes(must(parse_bytes(wanted)));
    } else if (verb == "free") {  // for another instance
      actual = world_.other_could_take(device_in(words.at(1))) ? words[1] : "not free";
    } else if (verb == "held") {
      actual = world_.other_could_take(device_in(words.at(1))) ? "not held" : words[1];
    } else if (verb == "journal") {
      const auto& told = world_.journal();
      actual = std::to_string(std::count_if(told.begin(), told.end(), [&](const Told& entry) {
        return told_kind(entry.input) == words.at(1);
      }));
    } else if (verb == "why") {
      const std::string why = describe(view.explain(id(words.at(1)), world_.now()), world_.now());
      wanted = line.substr(line.find(words.at(1)) + words[1].size() + 1);
      actual = why.find(wanted) == std::string::npos ? why : wanted;
    } else {
      return false;
    }
    require(actual == wanted, "it is: " + actual);
    return true;
  }

  /// What may be refused.
  std::optional<Result<void>> command(const Words& words) {
    const std::string& verb = words[0];
    ToldScheduler& scheduler = world_.driver().scheduler();
    if (verb == "submit") {
      return submit(words);
    }
    if (verb == "edit") {
      return world_.edit(id(words.at(1)), world_.jobs().spec_of(words));
    }
    if (verb == "cancel") {
      return scheduler.tell(Cancel{id(words.at(1))}, world_.now());
    }
    if (verb == "hold") {
      return scheduler.tell(Hold{id(words.at(1))}, world_.now());
    }
    if (verb == "release") {
      return scheduler.tell(Release{id(words.at(1))}, world_.now());
    }
    if (verb == "switch") {
      return world_.driver().set_policy(words.at(1), world_.driver().view().placement(),
                                        world_.now());
    }
    return std::nullopt;
  }

  Result<void> submit(const Words& words) {
    Words plain;
    bool mps = false;
    std::string recipe;
    for (const std::string& word : words) {
      if (word == "mps") {
        mps = true;
      } else if (word.starts_with("recipe=")) {
        recipe = word.substr(word.find('=') + 1);
      } else {
        plain.push_back(word);
      }
    }
    return world_.submit(words.at(1), world_.jobs().spec_of(plain), ScenarioJobs::array_in(plain),
                         mps, recipe);
  }

  bool attempt(const Words& words, const std::string& line) {
    const std::string& verb = words[0];
    if (verb == "exit" || verb == "signal") {
      AttemptOver over{id(words.at(1))};
      (verb == "exit" ? over.code : over.signal) = std::stoi(words.at(2));
      if (words.size() > 3) {
        require(words[3] == "says", "unknown word " + words[3]);
        over.output_end = line.substr(line.find(" says ") + 6);
      }
      world_.over(std::move(over));
    } else if (verb == "lost") {
      AttemptOver over{id(words.at(1))};
      over.kind = AttemptOver::Kind::Lost;
      world_.over(std::move(over));
    } else if (verb == "not_started") {
      AttemptOver over{id(words.at(1))};
      over.kind = AttemptOver::Kind::NotStarted;
      world_.over(std::move(over));
    } else if (verb == "started") {
      world_.host().start_now(id(words.at(1)));
    } else if (verb == "drop_unlaunched") {
      world_.driver().attempts().drop_unlaunched(world_.now());
    } else if (verb == "pause") {
      world_.driver().scheduler().tell(Pause{}, world_.now());
    } else if (verb == "resume") {
      world_.driver().scheduler().tell(Resume{}, world_.now());
    } else if (verb == "restart") {
      world_.restart();
    } else if (verb == "at") {
      world_.advance(Time(must(parse_duration(words.at(1)))));
    } else {
      return false;
    }
    return true;
  }

  bool device(const Words& words) {
    const std::string& verb = words[0];
    const std::string rest = fmt::format("{}", fmt::join(words, " "));
    if (verb == "uses") {
      uses(words);
    } else if (verb == "lose" || verb == "find") {
      world_.devices().truth(device_in(words.at(1))).lost = verb == "lose";
    } else if (verb == "drain" || verb == "undrain") {
      world_.driver().devices().set_drained(device_in(words.at(1)), verb == "drain", world_.now());
    } else if (rest == "reading" || rest == "asked reading") {
      world_.begin_reading(words.size() == 2);
      world_.end_reading();
    } else if (rest == "reading begins") {
      world_.begin_reading(false);
    } else if (rest == "reading comes") {
      world_.end_reading();
    } else if (verb == "other" && words.at(1) == "takes") {
      world_.other_takes(device_in(words.at(2)));
    } else if (verb == "other" && words.at(1) == "frees") {
      world_.other_frees(device_in(words.at(2)));
    } else if (verb == "other" && words.at(1) == "learns") {
      world_.other_learns(words.at(2), must(parse_bytes(words.at(3))));
    } else if (rest == "locks break" || rest == "locks work") {
      world_.break_locks(rest == "locks break");
    } else if (rest == "locks tell") {
      world_.host().wait_for("locks of devices");
    } else {
      return false;
    }
    return true;
  }

  void uses(const Words& words) {
    std::map<std::string, Bytes> holders;
    for (const auto& [key, value] : key_values(words, 2)) {
      if (key == "power") {
        world_.devices().truth(device_in(words.at(1))).power = std::stod(value);
      } else {
        holders[key] = must(parse_bytes(value));
      }
    }
    world_.set_use(device_in(words.at(1)), holders);
  }

  bool mps(const Words& words) {
    if (words[0] != "mps") {
      return false;
    }
    const std::string& what = words.at(1);
    if (what == "slow") {
      world_.mps_is_slow();
    } else if (what == "refuses") {
      world_.mps_refuses(words.at(2));
    } else if (what == "comes") {
      world_.mps_comes();
    } else if (what == "dies") {
      world_.mps_dies();
    } else if (what == "tells") {
      world_.hear("MPS");
    } else {
      return false;
    }
    return true;
  }

  /// With "…" at its end only the beginning must be so.
  void expect(std::string wanted) {
    constexpr std::string_view kAndSoOn = "…";
    std::deque<std::string>& happened = world_.host().happened();
    require(!happened.empty(), "nothing happened");
    const bool beginning = wanted.ends_with(kAndSoOn);
    wanted.resize(wanted.size() - (beginning ? kAndSoOn.size() : 0));
    const std::string& actual = happened.front();
    require(beginning ? actual.starts_with(wanted) : actual == wanted,
            "what happened is: " + actual);
    happened.pop_front();
  }

  void nothing_more() {
    std::deque<std::string>& happened = world_.host().happened();
    require(happened.empty(), happened.empty() ? "" : "not expected: " + happened.front());
  }

  JobId id(const std::string& name) { return world_.jobs().id(name); }

  World world_;
};

}  // namespace

std::string run_drive_scenario(const std::string& text) { return DriveScenario().run(text); }

}  // namespace berth
