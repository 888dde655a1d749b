#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <set>

#include "daemon/handlers/daemon.h"
#include "gpu/locks/lock_folder.h"

namespace berth {
namespace {

/// What somebody has, and the most of it.
GoodsReport goods_of(const Budgets& budgets, uid_t who) {
  GoodsReport goods;
  const auto report = [&](Good good, std::uint64_t& used, std::uint64_t& most) {
    used = budgets.used(who, good);
    most = budgets.limit(who, good);
  };
  report(Good::Connections, goods.connections, goods.most_connections);
  report(Good::Streams, goods.streams, goods.most_streams);
  report(Good::RequestBytes, goods.request_bytes, goods.most_request_bytes);
  report(Good::AnswerBytes, goods.answer_bytes, goods.most_answer_bytes);
  return goods;
}

UserLoad load_of(const Budgets& budgets, const FairUse& fair_use, uid_t who) {
  UserLoad load;
  load.uid = who;
  load.user = user_name(who);
  load.goods = goods_of(budgets, who);
  if (fair_use.bounds(who)) {
    const FairUse::Use use = fair_use.used(who);
    load.jobs = use.jobs;
    load.most_jobs = fair_use.limits().jobs;
    load.job_bytes = use.bytes;
    load.most_job_bytes = fair_use.limits().bytes.count;
  }
  return load;
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

LoadReport load_report(const Desk& desk, const DaemonFacts& facts, const Peer& viewer) {
  const Budgets& budgets = facts.budgets;
  LoadReport report;
  std::set<uid_t> users = {viewer.uid};
  if (budgets.privileged(viewer.uid)) {
    for (const std::vector<uid_t>& known : {budgets.users(), desk.fair_use.users()}) {
      users.insert(known.begin(), known.end());
    }
    users.erase(Budgets::kStrangers);
    report.strangers = goods_of(budgets, Budgets::kStrangers);
  }
  for (const uid_t user : users) {
    report.users.push_back(load_of(budgets, desk.fair_use, user));
  }
  const Watchdog::Turn& longest = facts.watchdog.longest();
  report.longest_turn = to_seconds(longest.length);
  report.longest_turn_did = Watchdog::describe(longest);
  report.longest_turn_ended = seconds(longest.ended);
  report.longest_turn_lately = to_seconds(facts.watchdog.longest_lately());
  report.slow_turns = facts.watchdog.slow_turns();
  report.memory_bytes = resident_bytes();
  return report;
}

}  // namespace berth
