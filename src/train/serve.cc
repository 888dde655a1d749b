#include "train/serve.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <istream>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>

#include "base/text.h"
#include "rl/candidates.h"
#include "train/agent.h"

namespace berth {
namespace {

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

/// Shows what it sees, and does what it is told.
class FarAgent final : public Agent {
 public:
  FarAgent(std::istream& in, std::ostream& out) : in_(in), out_(out) {}

  void begin(double usual) {
    usual_ = usual;
    paid_ = 0;
    gone_ = false;
    next_.clear();
  }

  Choice act(const Observation& seen) override {
    if (gone_) {  // the schedule is played to its end, with whatever fits first
      return {first_that_fits(seen), std::nullopt};
    }
    show(seen);
    for (;;) {
      const std::optional<std::string> line = read_line();
      if (!line || *line == "quit" || line->starts_with("reset")) {
        next_ = line.value_or("quit");
        gone_ = true;
        return {first_that_fits(seen), std::nullopt};
      }
      if (const std::optional<Choice> choice = choice_of(*line, seen)) {
        return *choice;
      }
      out_ << fmt::format(
                  "{{\"error\":\"say a job from 0 to {}, with a device after it if you like, or "
                  "wait\"}}\n",
                  seen.jobs.size() - 1)
           << std::flush;
    }
  }

  /// Whether the agent is still there to be told.
  bool stays() const { return !gone_; }
  void tell_end(double cost) {
    out_ << fmt::format("{{\"reward\":{},\"done\":true,\"cost\":{},\"usual\":{}}}\n", paid_ - cost,
                        cost, usual_)
         << std::flush;
  }
  /// What it said instead of an action; nothing: it has not spoken yet.
  std::optional<std::string> next_request() {
    if (!next_.empty()) {
      return std::exchange(next_, {});
    }
    return read_line();
  }

 private:
  std::optional<std::string> read_line() {
    std::string line;
    if (!std::getline(in_, line)) {
      return std::nullopt;
    }
    return std::string(trim(line));
  }

  static std::size_t first_that_fits(const Observation& seen) {
    std::size_t job = 0;
    while (!seen.fits[job]) {
      ++job;
    }
    return job;
  }

  static std::optional<Choice> choice_of(std::string_view line, const Observation& seen) {
    if (line == "wait") {
      return Choice{};
    }
    const auto job = number_of<std::size_t>(take_until(line, ' '));
    if (!job || *job >= seen.jobs.size()) {
      return std::nullopt;
    }
    Choice choice{*job, std::nullopt};
    if (!line.empty()) {
      const auto device = number_of<std::uint32_t>(line);
      if (!device || *device >= seen.devices.size()) {
        return std::nullopt;
      }
      choice.device = DeviceId{*device};
    }
    return choice;
  }

  void show(const Observation& seen) {
    text_.clear();
    const auto to = std::back_inserter(text_);
    fmt::format_to(to, "{{\"reward\":{},\"done\":false,\"now\":{},\"rest\":[{:.6g},{:.6g}]",
                   paid_ - seen.cost, to_seconds(seen.now.time_since_epoch()), seen.rest->waiting,
                   seen.rest->idle);
    paid_ = seen.cost;
    const char* before = ",\"jobs\":[";
    for (const Sight& sight : seen.sights) {
      fmt::format_to(to, "{}[{:.6g}]", before, fmt::join(sight, ","));
      before = ",";
    }
    before = "],\"fits\":[";
    for (const bool fits : seen.fits) {
      fmt::format_to(to, "{}{}", before, fits ? 1 : 0);
      before = ",";
    }
    before = "],\"devices\":[";
    for (const SeenDevice& device : seen.devices) {
      fmt::format_to(to, "{}[{:.6g},{:.6g},{:.6g}]", before, device.use, device.memory,
                     device.power);
      before = ",";
    }
    out_ << text_ << "]}\n" << std::flush;
  }

  std::istream& in_;
  std::ostream& out_;
  double usual_ = 0;
  double paid_ = 0;   // of the cost, as rewards
  bool gone_ = true;  // it wants another episode, or none
  std::string next_;
  std::string text_;
};

/// The lesson of a seed: one of the windows of a trace, or a workload that is generated for it.
Result<const Course*> course_of(const Source& source, const CourseOptions& options,
                                std::uint64_t seed, std::optional<Course>& kept) {
  if (kept && has_rows(source)) {
    return &*kept;
  }
  Source one = source;
  one.lessons = has_rows(source) ? source.lessons : 1;
  Result<Course> course = Course::make({one}, options, seed);
  if (!course) {
    return Failure(course.error());
  }
  kept = std::move(*course);
  return &*kept;
}

}  // namespace

Result<void> serve_episodes(const Source& source, const CourseOptions& options, std::istream& in,
                            std::ostream& out) {
  std::optional<Course> kept;
  if (const auto course = course_of(source, options, 1, kept); !course) {
    return Failure(course.error());
  }
  out << fmt::format(
             "{{\"version\":1,\"jobs\":{},\"sights\":[\"{}\"],\"devices\":{},\"reward\":\"{}\"}}\n",
             kMostCandidates, fmt::join(kSightNames, "\",\""),
             kept->machine(kept->lessons()[0]).size(), describe(options.reward))
      << std::flush;
  FarAgent agent(in, out);
  while (const std::optional<std::string> request = agent.next_request()) {
    std::string_view words = *request;
    if (words == "quit") {
      break;
    }
    const bool resets = take_until(words, ' ') == "reset";
    const auto seed = number_of<std::uint64_t>(words);
    if (!resets || !seed) {
      out << "{\"error\":\"say reset and a seed, like reset 1\"}\n" << std::flush;
      continue;
    }
    const Result<const Course*> course = course_of(source, options, *seed, kept);
    if (!course) {
      return Failure(course.error());
    }
    const Lesson& lesson = (*course)->lessons()[*seed % (*course)->size()];
    agent.begin(lesson.usual);
    const Result<double> cost = (*course)->play(lesson, agent);
    if (!cost) {
      return Failure(cost.error());
    }
    if (agent.stays()) {
      agent.tell_end(*cost);
    }
  }
  return {};
}

}  // namespace berth
