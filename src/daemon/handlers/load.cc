#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <set>

#include "daemon/handlers/daemon.h"
#include "gpu/locks/lock_folder.h"

namespace berth {
namespace {

/// What somebody has, and the most of it.
std::string goods_json(const Budgets& budgets, uid_t who) {
  constexpr std::pair<std::string_view, Good> kFields[] = {
      {"connections", Good::Connections},
      {"streams", Good::Streams},
      {"request_bytes", Good::RequestBytes},
      {"answer_bytes", Good::AnswerBytes},
  };
  std::vector<std::string> fields;
  for (const auto& [name, good] : kFields) {
    fields.push_back(fmt::format(R"("{0}":{1},"most_{0}":{2})", name, budgets.used(who, good),
                                 budgets.limit(who, good)));
  }
  return fmt::format("{}", fmt::join(fields, ","));
}

std::string user_json(const Budgets& budgets, const FairUse& fair_use, uid_t who) {
  std::string jobs;
  if (fair_use.bounds(who)) {
    const FairUse::Use use = fair_use.used(who);
    jobs = fmt::format(R"(,"jobs":{},"most_jobs":{},"job_bytes":{},"most_job_bytes":{})", use.jobs,
                       fair_use.limits().jobs, use.bytes, fair_use.limits().bytes.count);
  }
  return fmt::format(R"({{"uid":{},"user":{},{}{}}})", who, quote(user_name(who)),
                     goods_json(budgets, who), jobs);
}

}  // namespace

std::uint64_t resident_bytes() {
  const Fd file(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
  char text[128] = "";
  unsigned long total = 0;
  unsigned long resident = 0;
  if (!file || ::read(file.get(), text, sizeof text - 1) <= 0 ||
      std::sscanf(text, "%lu %lu", &total, &resident) != 2) {
    return 0;
  }
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::string load_json(const Desk& desk, const DaemonFacts& facts, const Peer& peer) {
  const Budgets& budgets = facts.budgets;
  const uid_t viewer = peer.uid;
  std::set<uid_t> users = {viewer};
  std::string strangers;
  if (budgets.privileged(viewer)) {
    for (const std::vector<uid_t>& known : {budgets.users(), desk.fair_use.users()}) {
      users.insert(known.begin(), known.end());
    }
    users.erase(Budgets::kStrangers);
    strangers = fmt::format(R"(,"strangers":{{{}}})", goods_json(budgets, Budgets::kStrangers));
  }
  std::vector<std::string> lines;
  for (const uid_t user : users) {
    lines.push_back(user_json(budgets, desk.fair_use, user));
  }
  const Watchdog::Turn& longest = facts.watchdog.longest();
  return fmt::format(
      R"({{"longest_turn_s":{:.6f},"longest_turn":{},"longest_turn_ended":{:.3f},)"
      R"("longest_turn_lately_s":{:.6f},"slow_turns":{},"memory_bytes":{},"users":[{}]{}}})",
      to_seconds(longest.length), quote(Watchdog::describe(longest)), seconds(longest.ended),
      to_seconds(facts.watchdog.longest_lately()), facts.watchdog.slow_turns(), resident_bytes(),
      fmt::join(lines, ","), strangers);
}

}  // namespace berth
