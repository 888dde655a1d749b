#include "core/scenario_words.h"

#include <fmt/format.h>

#include <sstream>

namespace berth {

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

std::vector<std::pair<std::string, std::string>> key_values(const Words& words, std::size_t from) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::size_t i = from; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    pairs.emplace_back(words[i].substr(0, equals),
                       equals == std::string::npos ? "" : words[i].substr(equals + 1));
  }
  return pairs;
}

std::uint32_t number_in(const std::string& word) {
  return static_cast<std::uint32_t>(std::stoul(word));
}

DeviceId device_in(const std::string& word) { return DeviceId{number_in(word)}; }

std::string for_each_line(const std::string& text,
                          const std::function<void(const Words&, const std::string&)>& execute,
                          const std::function<void()>& at_end) {
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
    at_end();
  } catch (const Mistake& mistake) {
    return fmt::format("line {}: {}", number, mistake.text);
  } catch (const std::exception& error) {
    return fmt::format("line {}: bad scenario: {}", number, error.what());
  }
  return "";
}

void ScenarioJobs::remember(const std::string& name, JobId job) {
  require(ids_.emplace(name, job).second, name + " exists already");
  names_.emplace(job, name);
}

JobId ScenarioJobs::id(const std::string& name) const {
  const auto found = ids_.find(name);
  require(found != ids_.end(), "no job is called " + name);
  return found->second;
}

std::uint32_t ScenarioJobs::array_in(const Words& words) {
  for (const auto& [key, value] : key_values(words, 2)) {
    if (key == "array") {
      return number_in(value);
    }
  }
  return 0;
}

JobSpec ScenarioJobs::spec_of(const Words& words) {
  JobSpec spec;
  for (const auto& [key, value] : key_values(words, 2)) {
    require(key == "array" || ask_of_devices(spec.needs, key, value) || ask(spec, key, value),
            "unknown option " + key);
  }
  return spec;
}

bool ScenarioJobs::ask_of_devices(Needs& needs, const std::string& key, const std::string& value) {
  if (key == "gpus") {
    needs.gpus = number_in(value);
  } else if (key == "mem") {
    needs.memory = must(parse_bytes(value));
  } else if (key == "profile") {
    needs.profile = must(parse_duration(value));
  } else if (key == "share") {
    needs.share = number_in(value);
  } else if (key == "mps") {
    needs.mps = mps_of(number_in(value));
  } else if (key == "threads") {
    needs.thread_percentage = number_in(value);
  } else if (key == "only") {
    needs.only = split(value, ',');
  } else if (key == "exclude") {
    needs.exclude = split(value, ',');
  } else if (key == "prefer") {
    needs.prefer = split(value, ',');
  } else if (key == "model") {
    needs.model = value;
  } else if (key == "on") {
    needs.target = value;
  } else {
    return false;
  }
  return true;
}

bool ScenarioJobs::ask(JobSpec& spec, const std::string& key, const std::string& value) {
  if (key == "priority") {
    spec.priority = std::stoi(value);
  } else if (key == "owner") {
    spec.owner = owners_.of(value, 0);
  } else if (key == "weight") {
    spec.weight = static_cast<std::uint16_t>(number_in(value));
  } else if (key == "expected") {
    spec.expected = must(parse_duration(value));
  } else if (key == "limit") {
    spec.limit = must(parse_duration(value));
  } else if (key == "begin") {
    spec.begin = Time(must(parse_duration(value)));
  } else if (key == "retries") {
    spec.retry.most = static_cast<std::uint16_t>(number_in(value));
  } else if (key == "backoff") {
    spec.retry.backoff = must(parse_duration(value));
  } else if (key == "requeue") {
    spec.retry.when_lost = true;
  } else if (key == "held") {
    spec.held = true;
  } else if (key == "after") {
    spec.after = dependencies(value);
  } else if (key == "warn") {
    spec.warn_before = must(parse_duration(value));
  } else {
    return false;
  }
  return true;
}

std::vector<Dependency> ScenarioJobs::dependencies(const std::string& value) const {
  std::vector<Dependency> after;
  for (const std::string& part : split(value, ',')) {
    const Words when = split(part, ':');
    after.push_back({id(when.at(1)), when[0] == "ok"    ? Dependency::When::Ok
                                     : when[0] == "any" ? Dependency::When::Any
                                                        : Dependency::When::NotOk});
  }
  return after;
}

}  // namespace berth
