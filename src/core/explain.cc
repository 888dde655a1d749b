#include "core/explain.h"

#include <fmt/format.h>

#include "base/units.h"

namespace berth {
namespace {

std::string about_when(Time until, Time now) {
  if (until == kNever) {
    return "; nothing tells when that changes";
  }
  if (until <= now) {
    return "; expected any moment";
  }
  return fmt::format("; expected in about {}", format_duration(until - now));
}

std::string place(std::size_t ahead) {
  if (ahead == 0) {
    return "";
  }
  return fmt::format("; {}{} {} ahead of it", ahead >= kMostAhead ? "more than " : "", ahead,
                     ahead == 1 ? "job is" : "jobs are");
}

}  // namespace

std::string describe(const Explanation& why, Time now) {
  using Kind = Explanation::Kind;
  switch (why.kind) {
    case Kind::NotWaiting:
      return "it is not waiting";
    case Kind::Held:
      return "held: it waits until it is released";
    case Kind::NotYet:
      return fmt::format("not before its time, in {}", format_duration(why.until - now));
    case Kind::Dependency: {
      std::vector<std::uint64_t> ids;
      for (const JobId job : why.blockers) {
        ids.push_back(job.value);
      }
      return fmt::format("waits for job {} to end", fmt::join(ids, ", "));
    }
    case Kind::Paused:
      return "the scheduler is paused and starts nothing";
    case Kind::Impossible:
      return fmt::format("no set of devices here could ever serve it: it needs {}", why.needs);
    case Kind::NoDevice: {
      std::string text =
          fmt::format("needs {}, and {} {} room now", why.needs,
                      why.have == 0 ? std::string("none") : fmt::format("only {}", why.have),
                      why.have == 1 ? "has" : "have");
      std::vector<std::string> parts;
      if (why.busy > 0) {
        parts.push_back(fmt::format("{} busy", why.busy));
      }
      if (why.foreign > 0) {
        parts.push_back(
            fmt::format("{} with too little memory beside other programs", why.foreign));
      }
      if (why.drained > 0) {
        parts.push_back(fmt::format("{} drained or lost", why.drained));
      }
      if (why.taken > 0) {
        parts.push_back(fmt::format("{} in use by another berth", why.taken));
      }
      if (!parts.empty()) {
        text += fmt::format(" ({})", fmt::join(parts, ", "));
      }
      return text + about_when(why.until, now) + place(why.ahead);
    }
    case Kind::Behind:
      return fmt::format("job {} comes first in the policy's order{}", why.other.value,
                         place(why.ahead));
    case Kind::Reserved:
      return fmt::format("the free devices are kept for job {}, which waits for more of them{}",
                         why.other.value, about_when(why.until, now));
    case Kind::Next:
      return "it starts at the next decision";
  }
  return "";
}

}  // namespace berth
