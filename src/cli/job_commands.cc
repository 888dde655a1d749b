// The small commands on jobs that the daemon knows: wait, kill, hold, release, why, show and queue.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/args.h"
#include "cli/commands.h"
#include "cli/daemon_client.h"
#include "cli/table.h"
#include "cli/terminal.h"

namespace berth {
namespace {

using Json = nlohmann::json;

/// Ids as words, for a query.
struct Ids {
  std::string list;

  void declare(Args& args, std::size_t least) {
    args.positional("ID…", "job numbers and ranges: 12, 3-7", least, 1'000'000,
                    [this](std::string_view word) -> Result<void> {
                      list += (list.empty() ? "" : ",") + std::string(word);
                      return {};
                    });
  }
};

Result<Json> ask_json(std::string_view method, const std::string& target, bool start,
                      Duration patience = std::chrono::seconds(60)) {
  Result<HttpClient> daemon = connect_daemon(start);
  if (!daemon) {
    return Failure(daemon.error());
  }
  daemon->set_patience(patience);
  const Result<std::string> body = ask(*daemon, method, target);
  if (!body) {
    return Failure(body.error());
  }
  Json json = Json::parse(*body, nullptr, false);
  if (json.is_discarded()) {
    return fail(ErrorCode::Unavailable, "the daemon's answer makes no sense");
  }
  return json;
}

std::string text(const Json& job, const char* key) {
  const auto field = job.find(key);
  return field == job.end() || field->is_null() ? ""
         : field->is_string()                   ? field->get<std::string>()
                                                : field->dump();
}

std::string age(const Json& job) {
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const auto at = [&](const char* key) {
    const auto field = job.find(key);
    return field != job.end() && field->is_number() ? field->get<double>() : 0.0;
  };
  const double from = at("started") > 0 ? at("started") : at("submitted");
  const double to = at("ended") > 0 ? at("ended") : now;
  return format_duration(Duration(static_cast<std::int64_t>((to - from) * 1e9)));
}

void print_table(const Json& jobs) {
  Table table;
  table.column("ID", Align::Right);
  table.column("STATE");
  table.column("NAME");
  table.column("GPUS");
  table.column("TIME", Align::Right);
  table.column("EXIT", Align::Right);
  table.column("COMMAND");
  for (const Json& job : jobs) {
    std::string gpus;
    for (const Json& gpu : job["gpus"]) {
      gpus += (gpus.empty() ? "" : ",") + gpu.get<std::string>();
    }
    const std::string exit =
        text(job, "signal").empty() ? text(job, "exit_code") : "SIG" + text(job, "signal");
    table.row({text(job, "id"), text(job, "state"), text(job, "name"), gpus, age(job), exit,
               printable(text(job, "command"))});
  }
  const Terminal terminal = describe_terminal(STDOUT_FILENO);
  std::fputs(table.render(terminal.columns, terminal.colour).c_str(), stdout);
}

int verb_main(std::string_view verb, std::string_view summary, Words words) {
  Ids ids;
  Args args(fmt::format("berth {} ID…", verb), std::string(summary));
  ids.declare(args, 1);
  const std::string name = fmt::format("berth {}", verb);
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report(name, parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<Json> done =
      ask_json("POST", fmt::format("/v1/jobs/{}?ids={}", verb, query_escape(ids.list)), false);
  return done ? 0 : report(name, done.error());
}

}  // namespace

int kill_main(Words words) {
  return verb_main("kill",
                   "Ends jobs: those that wait leave the queue, those that run are asked to\n"
                   "end (TERM), killed after a grace, and killed at once when asked again.",
                   words);
}
int hold_main(Words words) { return verb_main("hold", "Keeps queued jobs from starting.", words); }
int release_main(Words words) { return verb_main("release", "Lets held jobs start.", words); }

int queue_main(Words words) {
  bool all = false;
  bool json = false;
  std::int64_t limit = 100;
  Args args("berth queue [options]",
            "Shows the jobs that run and wait, in order of their numbers.");
  args.flag("-a,--all", all, "also those that have ended");
  args.flag("--json", json, "print JSON");
  args.value("-n,--limit", "N", "at most this many (default: 100; 0: all)", limit);
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth queue", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  Json jobs = Json::array();
  std::uint64_t after = 0;
  for (;;) {
    const std::int64_t page = limit == 0 || json ? 1000 : limit;
    Result<Json> reply = ask_json(
        "GET", fmt::format("/v1/jobs?all={}&after={}&limit={}", all ? 1 : 0, after, page), false);
    if (!reply) {
      return report("berth queue", reply.error());
    }
    for (Json& job : (*reply)["jobs"]) {
      jobs.push_back(std::move(job));
    }
    if (!reply->contains("next") || (limit != 0 && !json)) {
      break;
    }
    after = (*reply)["next"].get<std::uint64_t>();
  }
  if (json) {
    fmt::print("{}\n", Json{{"version", 1}, {"jobs", jobs}}.dump());
  } else {
    print_table(jobs);
  }
  return 0;
}

int show_main(Words words) {
  Ids ids;
  bool json = false;
  Args args("berth show ID [--json]", "Shows all that is known of a job.");
  ids.declare(args, 1);
  args.flag("--json", json, "print JSON");
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth show", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<Json> job = ask_json("GET", "/v1/jobs/" + query_escape(ids.list), false);
  if (!job) {
    return report("berth show", job.error());
  }
  if (json) {
    fmt::print("{}\n", job->dump());
    return 0;
  }
  for (const auto& [key, value] : job->items()) {
    if (!value.is_null() && key != "version") {
      fmt::print("{:<16} {}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  return 0;
}

int why_main(Words words) {
  Ids ids;
  Args args("berth why ID", "Says why a job has not started.");
  ids.declare(args, 1);
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth why", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<Json> job = ask_json("GET", "/v1/jobs/" + query_escape(ids.list), false);
  if (!job) {
    return report("berth why", job.error());
  }
  const std::string why = text(*job, "why");
  fmt::print("{}\n", why.empty() ? "job " + text(*job, "id") + " is " + text(*job, "state") : why);
  return 0;
}

int wait_main(Words words) {
  Ids ids;
  Args args("berth wait [ID…]",
            "Waits until these jobs, or all there are, have ended. Ends with 1 when\n"
            "one of those named has not succeeded.");
  ids.declare(args, 0);
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth wait", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<Json> reply =
      ask_json("GET", "/v1/wait?ids=" + query_escape(ids.list), true, kForever);
  if (!reply) {
    return report("berth wait", reply.error());
  }
  return reply->value("failed", 0) > 0 ? 1 : 0;
}

}  // namespace berth
