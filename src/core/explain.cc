#include "core/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/units.h"

namespace berth {
namespace {

/// Nothing where nobody can tell.
std::string about_when(std::string_view what, Time until, Time now) {
  if (until == kNever) {
    return "";
  }
  return fmt::format(
      "{}{}", what,
      until <= now ? "any moment" : fmt::format("in about {}", format_duration(until - now)));
}

std::string place(std::size_t ahead) {
  if (ahead == 0) {
    return "";
  }
  return fmt::format("; {}{} {} ahead of it", ahead >= kMostAhead ? "more than " : "", ahead,
                     ahead == 1 ? "job is" : "jobs are");
}

std::string capitalised(std::string text) {
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
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
      return fmt::format("{} in {}", why.tried ? "it is tried again" : "not before its time,",
                         format_duration(why.until - now));
    case Kind::Dependency: {
      constexpr std::size_t kMostNamed = 5;  // a whole array may be followed
      std::vector<std::uint64_t> ids;
      for (const JobId job : why.blockers) {
        ids.push_back(job.value);
      }
      if (ids.empty()) {
        return "the jobs that it follows have ended: it starts soon";
      }
      const std::size_t left_out = ids.size() - std::min(ids.size(), kMostNamed);
      ids.resize(ids.size() - left_out);
      return fmt::format("waits for {} {}{} to end", why.blockers.size() == 1 ? "job" : "jobs",
                         fmt::join(ids, ", "),
                         left_out == 0 ? "" : fmt::format(" and {} more", left_out));
    }
    case Kind::Paused:
      return "the scheduler is paused and starts nothing";
    case Kind::Impossible:
      return fmt::format("no set of devices here could ever serve it: it needs {}", why.needs);
    case Kind::NoDevice: {
      std::string text = fmt::format(
          "needs {}, and {} room now", why.needs,
          why.have == 0 ? "none has"
                        : fmt::format("only {} {}", why.have, why.have == 1 ? "has" : "have"));
      std::vector<std::string> parts;
      if (why.busy > 0) {
        parts.push_back(fmt::format("{} busy", why.busy));
      }
      if (why.no_mps > 0) {
        parts.push_back(fmt::format("{} used without MPS", why.no_mps));
      }
      if (why.mps > 0) {
        parts.push_back(
            fmt::format("{} used by {}MPS jobs", why.mps, why.wants_mps ? "another user's " : ""));
      }
      if (why.foreign > 0) {
        parts.push_back(
            fmt::format("{} with too little memory beside other programs", why.foreign));
      }
      if (why.drained > 0) {
        parts.push_back(fmt::format("{} drained", why.drained));
      }
      if (why.lost > 0) {
        parts.push_back(fmt::format("{} lost", why.lost));
      }
      if (why.taken > 0) {
        parts.push_back(fmt::format("{} in use by another berth", why.taken));
      }
      if (!parts.empty()) {
        text += fmt::format(" ({})", fmt::join(parts, ", "));
      }
      const std::string remedy = describe(why.remedy);
      return text + about_when("; room is expected ", why.until, now) + place(why.ahead) +
             (remedy.empty() ? "" : ". " + capitalised(remedy));
    }
    case Kind::NoSlot:
      return "as many jobs without GPUs run as there are CPUs" + place(why.ahead);
    case Kind::Behind:
      return fmt::format("job {} comes first in the policy's order{}", why.other.value,
                         place(why.ahead));
    case Kind::Reserved:
      return fmt::format("the free devices are kept for job {}, which waits for more of them{}",
                         why.other.value, about_when(" and should start ", why.until, now));
    case Kind::Objection:
      return why.objection;
    case Kind::Next:
      return "it starts at the next decision";
  }
  return "";
}

}  // namespace berth
