#include "cli/jobs/job_words.h"

#include <fmt/format.h>
#include <pwd.h>

#include <algorithm>
#include <cmath>
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

namespace {

/// Whole minutes, and no shorter than what was promised; seconds where minutes would say little.
/// The day is named where it is another one.
std::string start_interval_of(const JobReport& job) {
  constexpr double kMinute = 60;
  constexpr std::size_t kDay = std::string_view("2026-11-16 ").size();
  const double step = job.expected_start_to - job.expected_start_from < 5 * kMinute ? 1 : kMinute;
  const double begin = std::floor(job.expected_start_from / step) * step;
  const double end = std::ceil(job.expected_start_to / step) * step;
  const double now = wall_clock_seconds();
  const auto clock = [&](double time, double seen_from) {
    std::string text = local_time(time);
    if (text.substr(0, kDay) == local_time(seen_from).substr(0, kDay)) {
      text.erase(0, kDay);
    }
    return step < kMinute ? text : text.substr(0, text.rfind(':'));
  };
  const std::string from = begin <= now ? "now" : clock(begin, now);
  return fmt::format("{}–{} ({:.0f} %)", from, clock(end, begin <= now ? now : begin),
                     job.expected_start_coverage * 100);
}

}  // namespace

std::string expected_start_of(const JobReport& job) {
  if (job.expected_start <= 0) {
    return "";
  }
  if (job.expected_start_to > 0) {
    return start_interval_of(job);
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
