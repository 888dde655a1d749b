// Jobs as JSON and back.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "api/job_bounds.h"
#include "api/messages_json.h"
#include "base/bounds.h"
#include "base/nearest.h"

namespace berth {
namespace {

Json needs_json(const Needs& needs) {
  Json json;
  json["gpus"] = needs.gpus;
  if (needs.memory > Bytes{}) {
    json["mem"] = needs.memory.count;
  }
  json["claim"] = claim_source_name(needs.claim);
  if (needs.profile > Duration{}) {
    json["profile_s"] = to_seconds(needs.profile);
  }
  if (needs.share > 0) {
    json["share"] = needs.share;
  }
  if (needs.mps != 0) {
    json["mps"] = true;
  }
  if (needs.thread_percentage > 0) {
    json["thread_percentage"] = needs.thread_percentage;
  }
  if (!needs.model.empty()) {
    json["model"] = needs.model;
  }
  for (const auto& [key, names] :
       {std::pair{"only", &needs.only}, {"exclude", &needs.exclude}, {"prefer", &needs.prefer}}) {
    if (!names->empty()) {
      json[key] = *names;
    }
  }
  return json;
}

std::string_view word_for(Dependency::When when) {
  switch (when) {
    case Dependency::When::Ok:
      return "ok";
    case Dependency::When::Any:
      return "any";
    case Dependency::When::NotOk:
      return "notok";
  }
  return "";
}

/// Fields of a submitted job that are not part of its description.
constexpr std::array<std::string_view, 2> kOnlySubmitted = {"array", "follows"};

/// Collects the first thing that is wrong, so that reading a field stays one line.
class FieldReader {
 public:
  explicit FieldReader(const Json& json) : json_(json) {}

  const Error* error() const { return error_ ? &*error_ : nullptr; }

  void text(const char* key, std::string& out) {
    if (const Json* field = find(key)) {
      if (is_text(*field)) {
        out = field->get<std::string>();
      } else {
        wrong(key, "a text");
      }
    }
  }

  template <class T>
  void number(const char* key, T& out, std::int64_t least, std::int64_t most) {
    if (const Json* field = find(key)) {
      // One above the range of int64 would turn up below 0.
      const bool fits = field->is_number_integer() &&
                        !(field->is_number_unsigned() && field->get<std::uint64_t>() > kMostSigned);
      if (!fits || field->get<std::int64_t>() < least || field->get<std::int64_t>() > most) {
        wrong(key, fmt::format("a whole number from {} to {}", least, most));
      } else {
        out = static_cast<T>(field->get<std::int64_t>());
      }
    }
  }

  void seconds(const char* key, Duration& out) {
    constexpr double kMost = 9e9;
    if (const Json* field = find(key)) {
      if (!field->is_number() || field->get<double>() < 0 || field->get<double>() > kMost) {
        wrong(key, "a number of seconds");
      } else {
        out = Duration(static_cast<std::int64_t>(field->get<double>() * 1e9));
      }
    }
  }

  void flag(const char* key, bool& out) {
    if (const Json* field = find(key)) {
      if (field->is_boolean()) {
        out = field->get<bool>();
      } else {
        wrong(key, "true or false");
      }
    }
  }

  void texts(const char* key, std::vector<std::string>& out) {
    if (const Json* field = find(key)) {
      out.clear();
      if (!field->is_array()) {
        return wrong(key, "a list of texts");
      }
      for (const Json& item : *field) {
        if (!is_text(item)) {
          return wrong(key, "a list of texts");
        }
        out.push_back(item.get<std::string>());
      }
    }
  }

  /// Texts that are not empty.
  void names(const char* key, std::vector<std::string>& out) {
    texts(key, out);
    if (std::find(out.begin(), out.end(), "") != out.end()) {
      wrong(key, "a list of names");
    }
  }

  void pairs(const char* key, std::map<std::string, std::string>& out) {
    if (const Json* field = find(key)) {
      out.clear();
      if (!field->is_object()) {
        return wrong(key, "an object of texts");
      }
      for (const auto& [name, value] : field->items()) {
        if (!is_text(value) || name.find('\0') != name.npos) {
          return wrong(key, "an object of texts");
        }
        out[name] = value.get<std::string>();
      }
    }
  }

  /// After everything was read: a field that nobody asked for is a mistake, and nothing that was
  /// meant to count is passed over. `elsewhere`: how many fields somebody else reads.
  void check_no_others(std::size_t elsewhere) {
    if (error_ || found_ + elsewhere == json_.size()) {
      return;
    }
    for (const auto& [name, value] : json_.items()) {
      if (std::find(asked_.begin(), asked_.end(), name) == asked_.end() &&
          std::find(kOnlySubmitted.begin(), kOnlySubmitted.end(), name) == kOnlySubmitted.end()) {
        const std::string_view meant = nearest(name, std::span(asked_.data(), count_));
        error_ = Error{ErrorCode::Usage,
                       fmt::format("there is no field {}{}", shown(name),
                                   meant.empty() ? "" : fmt::format(": is it {}?", meant))};
        return;
      }
    }
    error_ = Error{ErrorCode::Usage, "array and follows belong to the jobs themselves"};
  }

  void wrong(const char* key, std::string_view wanted) {
    if (!error_) {
      error_ = Error{ErrorCode::Usage, fmt::format("{} must be {}", key, wanted)};
    }
  }

 private:
  static constexpr std::uint64_t kMostSigned = std::numeric_limits<std::int64_t>::max();

  /// A NUL would end it early wherever it goes: in paths, commands and the environment.
  static bool is_text(const Json& field) {
    return field.is_string() && field.get_ref<const std::string&>().find('\0') == std::string::npos;
  }

  const Json* find(const char* key) {
    const auto found = json_.find(key);
    asked_[count_++] = key;
    found_ += found == json_.end() ? 0 : 1;
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }

  const Json& json_;
  std::array<std::string_view, 40> asked_;  // of the fields a job has, so far
  std::size_t count_ = 0;
  std::size_t found_ = 0;
  std::optional<Error> error_;
};

/// "ok:12", "any:13", "notok:14", or just "12".
std::optional<std::pair<Dependency::When, std::uint64_t>> read_after(const std::string& word) {
  const std::size_t colon = word.find(':');
  const std::string_view when =
      colon == std::string::npos ? "ok" : std::string_view(word).substr(0, colon);
  const Result<std::int64_t> number =
      parse_integer(colon == std::string::npos ? word : word.substr(colon + 1), "the job");
  if (!number || *number < 0) {
    return std::nullopt;
  }
  for (const Dependency::When known :
       {Dependency::When::Ok, Dependency::When::Any, Dependency::When::NotOk}) {
    if (when == word_for(known)) {
      return std::pair(known, static_cast<std::uint64_t>(*number));
    }
  }
  return std::nullopt;
}

void read_dependencies(FieldReader& reader, std::vector<Dependency>& after) {
  std::vector<std::string> words;
  reader.texts("after", words);
  if (!words.empty()) {
    after.clear();
  }
  for (const std::string& word : words) {
    const auto dependency = read_after(word);
    if (!dependency || dependency->second == 0) {
      return reader.wrong("after", "a list such as [\"ok:12\", \"any:13\"]");
    }
    after.push_back({JobId{dependency->second}, dependency->first});
  }
}

/// Through MPS as root would; whoever knows whose job it is puts that right.
void read_mps(FieldReader& reader, Needs& needs) {
  bool mps = needs.mps != 0;
  reader.flag("mps", mps);
  needs.thread_percentage = mps ? needs.thread_percentage : 0;
  reader.number("thread_percentage", needs.thread_percentage, 0, 100);
  needs.mps = mps || needs.thread_percentage > 0 ? std::max(needs.mps, mps_of(0)) : 0;
}

void read_causes(FieldReader& reader, RetryRule& retry) {
  std::vector<std::string> causes{"?"};
  reader.texts("retry_on", causes);
  if (causes == std::vector<std::string>{"?"}) {
    return;  // not given
  }
  retry.on_failure = false;
  retry.on_time_limit = false;
  for (const std::string& cause : causes) {
    if (cause == "failed") {
      retry.on_failure = true;
    } else if (cause == "timed_out") {
      retry.on_time_limit = true;
    } else {
      return reader.wrong("retry_on", "a list of failed and timed_out");
    }
  }
}

}  // namespace

Json description_json(const JobDescription& job) {
  const JobSpec& spec = job.spec;
  Json json = needs_json(spec.needs);
  const auto text = [&](const char* key, const std::string& value) {
    if (!value.empty()) {
      json[key] = value;
    }
  };
  text("name", job.name);
  text("project", job.project);
  text("command", job.command);
  text("directory", job.directory);
  text("output", job.output);
  text("error", job.error);
  text("sweep", job.sweep);
  if (spec.priority != 0) {
    json["priority"] = spec.priority;
  }
  if (spec.weight != 1) {
    json["weight"] = spec.weight;
  }
  if (spec.limit != kForever) {
    json["timeout_s"] = to_seconds(spec.limit);
  }
  if (spec.expected != kForever) {
    json["expected_s"] = to_seconds(spec.expected);
  }
  if (spec.begin != Time{}) {
    json["begin"] = to_seconds(spec.begin.time_since_epoch());
  }
  if (spec.retry.most > 0) {
    json["retries"] = spec.retry.most;
    json["backoff_s"] = to_seconds(spec.retry.backoff);
    json["retry_on"] = Json::array();
    if (spec.retry.on_failure) {
      json["retry_on"].push_back("failed");
    }
    if (spec.retry.on_time_limit) {
      json["retry_on"].push_back("timed_out");
    }
  }
  for (const Dependency& after : spec.after) {
    json["after"].push_back(fmt::format("{}:{}", word_for(after.when), after.job.value));
  }
  if (spec.held) {
    json["held"] = true;
  }
  if (!job.labels.empty()) {
    json["labels"] = job.labels;
  }
  if (!job.parameters.empty()) {
    json["parameters"] = job.parameters;
  }
  if (job.array_index) {
    json["array_index"] = *job.array_index;
  }
  if (job.warning_signal != 0) {
    json["warning_signal"] = job.warning_signal;
    json["warning_before_s"] = to_seconds(spec.warn_before);
  }
  if (spec.retry.when_lost) {
    json["requeue_when_lost"] = true;
  }
  if (!job.environment.empty()) {
    json["environment"] = job.environment;
  }
  return json;
}

/// A size alone is a given claim.
void read_claim(FieldReader& reader, Needs& needs) {
  const Bytes before = needs.memory;
  reader.number("mem", needs.memory.count, 0, std::int64_t{1} << 60);
  if (needs.memory != before) {
    needs.claim = needs.memory > Bytes{} ? ClaimSource::Given : ClaimSource::Learned;
  }
  reader.seconds("profile_s", needs.profile);
  std::string source;
  reader.text("claim", source);
  for (const ClaimSource known : {ClaimSource::Learned, ClaimSource::Given, ClaimSource::None}) {
    if (source == claim_source_name(known)) {
      needs.claim = known;
    }
  }
}

Result<void> read_description(const Json& json, JobDescription& job, std::size_t elsewhere) {
  if (!json.is_object()) {
    return fail(ErrorCode::Usage, "it must be an object");
  }
  FieldReader reader(json);
  JobSpec& spec = job.spec;
  reader.number("gpus", spec.needs.gpus, 0, 1'000'000);
  read_claim(reader, spec.needs);
  reader.number("share", spec.needs.share, 0, kWholeShare);
  read_mps(reader, spec.needs);
  reader.text("model", spec.needs.model);
  reader.names("only", spec.needs.only);
  reader.names("exclude", spec.needs.exclude);
  reader.names("prefer", spec.needs.prefer);
  reader.text("name", job.name);
  reader.text("project", job.project);
  reader.text("command", job.command);
  reader.text("directory", job.directory);
  reader.text("output", job.output);
  reader.text("error", job.error);
  reader.text("sweep", job.sweep);
  reader.number("priority", spec.priority, -kMostPriority, kMostPriority);
  reader.number("weight", spec.weight, 1, kMostWeight);
  reader.seconds("timeout_s", spec.limit);
  reader.seconds("expected_s", spec.expected);
  for (Duration* length : {&spec.limit, &spec.expected}) {
    *length = *length == Duration{} ? kForever : *length;
  }
  Duration begin = spec.begin.time_since_epoch();
  reader.seconds("begin", begin);
  spec.begin = Time(begin);
  reader.number("retries", spec.retry.most, 0, 10'000);
  reader.seconds("backoff_s", spec.retry.backoff);
  read_causes(reader, spec.retry);
  read_dependencies(reader, spec.after);
  reader.flag("held", spec.held);
  reader.pairs("labels", job.labels);
  reader.pairs("parameters", job.parameters);
  std::int64_t index = -1;
  reader.number("array_index", index, 0, kMostArrayIndex);
  if (index >= 0) {
    job.array_index = static_cast<std::uint32_t>(index);
  }
  reader.number("warning_signal", job.warning_signal, 0, 64);
  reader.seconds("warning_before_s", spec.warn_before);
  reader.flag("requeue_when_lost", spec.retry.when_lost);
  reader.texts("environment", job.environment);
  reader.check_no_others(elsewhere);
  if (const Error* error = reader.error()) {
    return Failure(*error);
  }
  return check_bounds(job);
}

Json submitted_json(const SubmittedJob& job) {
  Json json = description_json(job.description);
  if (job.count != 1) {
    json["array"] = job.count;
  }
  for (const LocalDependency& follows : job.follows) {
    json["follows"].push_back(fmt::format("{}:{}", word_for(follows.when), follows.position));
  }
  return json;
}

Result<void> read_submitted(const Json& json, SubmittedJob& job, std::size_t position) {
  if (json.contains("environment")) {
    return fail(ErrorCode::Usage, "environment is the same for all jobs: say it in defaults");
  }
  const auto own = std::count_if(kOnlySubmitted.begin(), kOnlySubmitted.end(),
                                 [&](std::string_view key) { return json.contains(key); });
  if (Result<void> read = read_description(json, job.description, static_cast<std::size_t>(own));
      !read) {
    return read;
  }
  FieldReader reader(json);
  reader.number("array", job.count, 1, kMostInArray);
  if (job.count != 1 && !job.description.array_index) {
    job.description.array_index = 0;
  }
  if (job.description.array_index.value_or(0) + std::int64_t{job.count} - 1 > kMostArrayIndex) {
    reader.wrong("array", fmt::format("so short that its indices end at {}", kMostArrayIndex));
  }
  std::vector<std::string> words;
  reader.texts("follows", words);
  for (const std::string& word : words) {
    const std::optional<std::pair<Dependency::When, std::uint64_t>> follows = read_after(word);
    if (!follows || follows->second >= position) {
      reader.wrong("follows", "a list of earlier jobs of this submission, such as [\"ok:0\"]");
      break;
    }
    job.follows.push_back({follows->second, follows->first});
  }
  if (job.follows.size() > kMostFollowed) {
    reader.wrong("follows", fmt::format("a list of at most {} jobs", kMostFollowed));
  }
  if (const Error* error = reader.error()) {
    return Failure(*error);
  }
  return {};
}

}  // namespace berth
