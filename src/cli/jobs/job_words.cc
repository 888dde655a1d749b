#include "cli/jobs/job_words.h"

#include <fmt/format.h>
#include <pwd.h>

#include <algorithm>
#include <cstring>

#include "base/signals.h"
#include "base/units.h"
#include "cli/toolkit/clock.h"

namespace berth {

std::string for_seconds(double seconds) {
  return format_duration(Duration(static_cast<std::int64_t>(std::max(0.0, seconds) * 1e9)));
}

std::string age_of(const JobReport& job) {
  const double from = job.started > 0 ? job.started : job.submitted;
  const double to = job.ended > 0 ? job.ended : wall_clock_seconds();
  return for_seconds(to - from);
}

std::string expected_start_of(const JobReport& job) {
  if (job.expected_start <= 0) {
    return "";
  }
  const double left = job.expected_start - wall_clock_seconds();
  return left < 1 ? "soon" : "in " + for_seconds(left);
}

std::string unknown_memory_of(const JobReport& job) {
  const std::uint64_t runs = job.claim_runs_needed;
  if (runs == 0) {
    return "";
  }
  return fmt::format(
      "its memory is not known yet (about {} more {} of this recipe {}): it gets {}{}", runs,
      runs == 1 ? "run" : "runs", runs == 1 ? "tells" : "tell",
      job.description.spec.needs.gpus == 1 ? "a whole GPU" : "whole GPUs",
      job.why.find("--mem ") == job.why.npos ? "; --mem SIZE lets it share" : "");
}

std::string promise_of(const JobReport& job) {
  if (!job.promise) {
    return "";
  }
  const PromiseReport& told = *job.promise;
  if (told.start > 0) {
    return fmt::format(
        "it starts by {} at the latest, unless running jobs take longer than "
        "expected",
        clock_time(told.start));
  }
  return fmt::format(
      "a job of {} is passed only by jobs of its owner and priority that are submitted within {} "
      "of it, that is until {}",
      told.length_s > 0 ? fmt::format("its length (about {})", for_seconds(told.length_s))
                        : "unknown length",
      for_seconds(told.window_s), clock_time(told.passed_until));
}

std::string state_of(const JobReport& job) { return job.paused ? "paused" : job.state; }

Colour colour_of(const std::string& state) {
  if (state == "running" || state == "starting") {
    return Colour::Green;
  }
  if (state == "failed" || state == "timed_out" || state == "oom" || state == "lost") {
    return Colour::Red;
  }
  return state == "held" || state == "paused" ? Colour::Yellow : Colour::Plain;
}

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ","));
}

std::string exit_words(std::optional<int> exit_code, std::optional<int> signal) {
  return signal ? signal_name(*signal) : exit_code ? std::to_string(*exit_code) : "";
}

std::string user_of(const JobReport& job) {
  const passwd* user = ::getpwuid(job.description.user);
  return user != nullptr ? user->pw_name : std::to_string(job.description.user);
}

std::string full_name_of(const JobReport& job) {
  const JobDescription& told = job.description;
  return told.project.empty() ? told.name : told.project + "/" + told.name;
}

}  // namespace berth
