#include "cli/jobs/submission.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "api/messages/error.h"
#include "api/messages/job.h"
#include "api/messages/log.h"
#include "cli/jobs/submission_parts.h"
#include "cli/toolkit/daemon_client.h"
#include "spec/job_line.h"

namespace berth {
namespace {

Result<JobReport> read_job(HttpClient& daemon, std::uint64_t job) {
  return as_message(ask(daemon, "GET", fmt::format("/v1/jobs/{}", job)), parse_job_report);
}

bool is_live(const JobReport& job) {
  return job.state == "held" || job.state == "queued" || job.state == "starting" ||
         job.state == "running";
}

/// As a shell would have it. What the code alone does not tell is said.
int exit_code_of(const JobReport& ended) {
  constexpr int kTimedOut = 124;
  constexpr int kSignalled = 128;  // a shell adds it to the number of the signal
  if (!ended.reason.empty() || ended.state == "cancelled" || ended.state == "lost") {
    fmt::print(stderr, "berth: job {} is {}{}\n", ended.id.value, ended.state,
               ended.reason.empty() ? "" : ": " + ended.reason);
  }
  if (ended.state == "timed_out") {
    return kTimedOut;
  }
  return ended.signal ? kSignalled + *ended.signal : ended.exit_code.value_or(1);
}

/// Requests are JSON, and JSON is UTF-8: another command than the one that was typed must not run.
Result<void> check_texts(const JobDescription& job) {
  for (const auto& [what, text] : {std::pair{"command", &job.command},
                                   {"name", &job.name},
                                   {"project", &job.project},
                                   {"directory", &job.directory},
                                   {"output path", &job.output},
                                   {"error path", &job.error}}) {
    if (find_invalid_utf8(*text) != text->npos) {
      return fail(ErrorCode::Usage,
                  fmt::format("the {} is not UTF-8 text (a script may hold any bytes)", what));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<SubmitReply>> send_submission(const SubmitRequest& submission) {
  for (const SubmittedJob& job : submission.jobs) {
    if (const Result<void> checked = check_texts(job.description); !checked) {
      return Failure(checked.error());
    }
  }
  Result<HttpClient> daemon = connect_daemon();
  if (!daemon) {
    return Failure(daemon.error());
  }
  SubmissionParts parts(submission);
  std::vector<SubmitReply> replies;
  while (!parts.done()) {
    const Result<std::string> body = ask(*daemon, "POST", "/v1/jobs", parts.next());
    const Result<SubmitReply> reply =
        body ? parse_submit_reply(*body) : Result<SubmitReply>(Failure(body.error()));
    if (!reply) {
      return replies.empty() ? Failure(reply.error())
                             : fail(reply.error().code,
                                    fmt::format("{} are queued, and the others not: {}",
                                                job_ranges(replies), reply.error().message));
    }
    if (!reply->note.empty() && (replies.empty() || replies.back().note != reply->note)) {
      fmt::print(stderr, "berth: {}\n", reply->note);
    }
    replies.push_back(*reply);
    if (!parts.queued(*reply)) {
      break;  // its token stands for other jobs than these
    }
  }
  return replies;
}

std::string job_ranges(const std::vector<SubmitReply>& replies) {
  std::string text;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const std::uint64_t first = replies[i].first.value;
    std::uint64_t end = first + replies[i].count;
    while (i + 1 < replies.size() && replies[i + 1].first.value == end) {
      end += replies[++i].count;
    }
    text += text.empty() ? "" : " ";
    text += end == first + 1 ? std::to_string(first) : fmt::format("{}-{}", first, end - 1);
  }
  return text;
}

Result<void> read_log(const LogRequest& request,
                      const std::function<void(const LogPiece&)>& print) {
  Result<HttpClient> daemon = connect_daemon();
  if (!daemon) {
    return Failure(daemon.error());
  }
  std::int64_t attempt = request.attempt;
  std::int64_t tail = request.tail;
  std::int64_t offset = 0;
  for (;;) {
    const std::string target =
        fmt::format("/v1/jobs/{}/log?attempt={}&offset={}&tail={}&stream={}&wait={}", request.job,
                    attempt, offset, tail, request.errors ? "err" : "out", request.follow ? 1 : 0);
    const Result<HttpReply> reply = daemon->send("GET", target, "");
    if (!reply) {
      return Failure(reply.error());
    }
    if (reply->status >= 400) {
      return Failure(parse_error(reply->body, reply->status));
    }
    const Result<LogReply> log = parse_log_reply(*reply);
    if (!log) {
      return Failure(log.error());
    }
    if (log->attempt != 0) {
      print({log->attempt, log->offset, reply->body});
    }
    if (log->attempt == 0 && !request.follow) {
      return fail(ErrorCode::NotFound,
                  fmt::format("job {0} has not started yet (berth why {0})", request.job));
    }
    if (log->attempt == 0) {
      continue;  // it had not begun when this was asked, and perhaps it is over by now
    }
    attempt = log->attempt;
    offset = log->offset;
    tail = -1;
    if (log->more == LogReply::More::Now ||
        (log->more == LogReply::More::Later && request.follow)) {
      continue;
    }
    if (!request.follow || !request.onward) {
      return {};
    }
    // This attempt is over; the job may not be.
    const Result<JobReport> job = read_job(*daemon, request.job);
    if (!job) {
      return Failure(job.error());
    }
    if (!is_live(*job) && job->attempt <= attempt) {
      return {};
    }
    ++attempt;
    offset = 0;
  }
}

Result<int> follow_job(std::uint64_t job) {
  LogRequest request;
  request.job = job;
  request.attempt = 1;  // it may have failed and be tried again before the first request is there
  request.follow = true;
  const Result<void> read = read_log(request, [](const LogPiece& piece) {
    std::fwrite(piece.text.data(), 1, piece.text.size(), stdout);
    std::fflush(stdout);
  });
  if (!read && read.error().code == ErrorCode::Unavailable) {
    return Failure(read.error());
  }
  if (!read && read.error().code != ErrorCode::NotFound) {
    fmt::print(stderr, "berth: {}\n", read.error().message);  // its end can be told all the same
  }
  Result<HttpClient> daemon = connect_running_daemon();
  if (!daemon) {
    return Failure(daemon.error());
  }
  daemon->set_patience(kForever);
  const Result<std::string> waited = ask(*daemon, "GET", fmt::format("/v1/wait?select={}", job));
  const Result<JobReport> ended =
      waited ? read_job(*daemon, job) : Result<JobReport>(Failure(waited.error()));
  if (!ended) {
    return Failure(ended.error());
  }
  return exit_code_of(*ended);
}

}  // namespace berth
