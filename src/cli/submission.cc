#include "cli/submission.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/daemon_client.h"

namespace berth {
namespace {

constexpr int kSignalled = 128;  // a shell adds it to the number of the signal

std::int64_t number_in(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Result<nlohmann::json> read_job(HttpClient& daemon, std::uint64_t job) {
  const Result<std::string> body = ask(daemon, "GET", fmt::format("/v1/jobs/{}", job));
  if (!body) {
    return Failure(body.error());
  }
  nlohmann::json json = nlohmann::json::parse(*body, nullptr, false);
  if (json.is_discarded()) {
    return fail(ErrorCode::Unavailable, "the daemon's answer makes no sense");
  }
  return json;
}

bool is_live(const nlohmann::json& job) {
  const std::string state = job.value("state", "");
  return state == "held" || state == "queued" || state == "starting" || state == "running";
}

}  // namespace

Result<SubmitReply> send_submission(const SubmitRequest& submission) {
  Result<HttpClient> daemon = connect_daemon(true);
  if (!daemon) {
    return Failure(daemon.error());
  }
  const Result<std::string> body = ask(*daemon, "POST", "/v1/jobs", to_json(submission));
  if (!body) {
    return Failure(body.error());
  }
  return parse_submit_reply(*body);
}

std::string job_range(const SubmitReply& reply) {
  return reply.count == 1
             ? std::to_string(reply.first.value)
             : fmt::format("{}-{}", reply.first.value, reply.first.value + reply.count - 1);
}

Result<void> read_log(const LogWish& wish, const std::function<void(std::string_view)>& print) {
  Result<HttpClient> daemon = connect_daemon(false);
  if (!daemon) {
    return Failure(daemon.error());
  }
  std::int64_t attempt = wish.attempt;
  std::int64_t tail = wish.tail;
  std::int64_t offset = 0;
  for (;;) {
    const std::string target =
        fmt::format("/v1/jobs/{}/log?attempt={}&offset={}&tail={}&stream={}&wait={}", wish.job,
                    attempt, offset, tail, wish.errors ? "err" : "out", wish.follow ? 1 : 0);
    const Result<HttpReply> reply = daemon->send("GET", target, "");
    if (!reply) {
      return Failure(reply.error());
    }
    if (reply->status >= 400) {
      return Failure(parse_error(reply->body, reply->status));
    }
    print(reply->body);
    const std::int64_t now_reading = number_in(reply->header("Berth-Attempt"));
    if (now_reading > 0) {
      attempt = now_reading;
      offset = number_in(reply->header("Berth-Offset"));
      tail = -1;
    }
    const std::string_view more = reply->header("Berth-More");
    if (more == "now" || (more == "later" && wish.follow)) {
      continue;
    }
    if (!wish.follow || wish.attempt != 0) {
      return {};
    }
    // This attempt is over; the job may not be.
    const Result<nlohmann::json> job = read_job(*daemon, wish.job);
    if (!job) {
      return Failure(job.error());
    }
    if (!is_live(*job) && job->value("attempt", std::int64_t{0}) <= attempt) {
      return {};
    }
    ++attempt;
    offset = 0;
  }
}

Result<int> follow_job(std::uint64_t job) {
  LogWish wish;
  wish.job = job;
  wish.follow = true;
  const Result<void> read = read_log(wish, [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  });
  if (!read && read.error().code != ErrorCode::NotFound) {
    return Failure(read.error());
  }
  Result<HttpClient> daemon = connect_daemon(false);
  if (!daemon) {
    return Failure(daemon.error());
  }
  const Result<nlohmann::json> ended = read_job(*daemon, job);
  if (!ended) {
    return Failure(ended.error());
  }
  if (const auto signal = ended->find("signal"); signal != ended->end() && signal->is_number()) {
    return kSignalled + signal->get<int>();
  }
  const auto code = ended->find("exit_code");
  if (code != ended->end() && code->is_number() && ended->value("state", "") != "timed_out") {
    return code->get<int>();
  }
  const std::string state = ended->value("state", "");
  const auto reason = ended->find("reason");
  fmt::print(
      stderr, "berth: job {} is {}{}\n", job, state,
      reason != ended->end() && reason->is_string() ? ": " + reason->get<std::string>() : "");
  constexpr int kTimedOut = 124;
  return state == "timed_out" ? kTimedOut : 1;
}

}  // namespace berth
