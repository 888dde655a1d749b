#include "daemon/handlers/submit_texts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <random>
#include <span>

#include "api/messages/text.h"
#include "daemon/submission_checks.h"
#include "spec/peasy_outputs.h"
#include "spec/sweep_file.h"
#include "spec/text_jobs.h"

namespace berth {
namespace {

constexpr std::size_t kShown = 100;
constexpr std::size_t kProblemsTold = 20;

/// Short enough for JSON's numbers.
std::uint64_t fresh_seed() { return std::random_device()(); }

/// All parameters are looked at, also when one of them is wrong.
SweepSpec sweep_of(const TextRequest& request, TextJobs& result) {
  SweepSpec over;
  over.command = request.command;
  for (std::size_t i = 0; i < request.parameters.size(); ++i) {
    const std::vector<std::string_view> words(request.parameters[i].begin(),
                                              request.parameters[i].end());
    Result<std::vector<Param>> params =
        words.empty() ? Result<std::vector<Param>>(fail(ErrorCode::Usage, "it is empty"))
                      : parse_param_words(words, LoneValue::MayBeRange);
    if (!params) {
      result.complain(0, 0, fmt::format("parameter {}: {}", i + 1, params.error().message));
      continue;
    }
    std::move(params->begin(), params->end(), std::back_inserter(over.params));
  }
  over.zips = request.zips;
  over.where = request.where;
  over.n_samples = request.n_samples;
  over.allow_unused = request.allow_unused;
  if (!request.mode.empty()) {
    if (const Result<SweepOrder> order = parse_sweep_order(request.mode)) {
      over.order = *order;
    } else {
      result.complain(0, 0, order.error().message);
    }
  }
  if (request.text.empty()) {
    return over;
  }
  Result<SweepSpec> file = parse_sweep_file(request.text, "the text");
  if (!file) {
    result.complain(0, 0, file.error().message);
    return over;
  }
  return override_sweep(std::move(*file), std::move(over));
}

/// `seed` is set where the sweep depends on it.
TextJobs read_sweep(const TextRequest& request, const TextLimits& limits,
                    std::optional<std::uint64_t>& seed) {
  TextJobs result;
  SweepSpec spec = sweep_of(request, result);
  if (!result.problems.empty()) {
    return result;
  }
  const std::uint64_t chosen = request.seed ? *request.seed : spec.seed ? *spec.seed : fresh_seed();
  const Result<Sweep> sweep = Sweep::make(spec);
  if (sweep && sweep->is_random()) {
    seed = chosen;
  }
  return read_sweep_jobs(std::move(spec), chosen, request.defaults, limits);
}

/// `own`: the files are those of the daemon's user, which it may look at.
TextJobs read_peasy(const TextRequest& request, bool own, const TextLimits& limits) {
  TextJobs jobs = read_peasy_jobs(request.text, request.defaults, limits);
  if (own && !request.overwrite) {
    for (const TextProblem& problem : lost_outputs(jobs, request.defaults)) {
      jobs.complain(problem.line, problem.column,
                    problem.message + ": name another file, or ask for it to be overwritten");
    }
  }
  return jobs;
}

/// `seed` as read_sweep() has it.
TextJobs read_text(const TextRequest& request, const TaskFormat& csv, const TextLimits& limits,
                   std::optional<std::uint64_t>& seed) {
  switch (request.format) {
    case TextRequest::Format::Lines:
      return read_line_jobs(request.text, request.defaults, limits);
    case TextRequest::Format::Peasy:
      return read_peasy(request, csv.files_must_exist, limits);
    case TextRequest::Format::Sweep:
      return read_sweep(request, limits, seed);
    case TextRequest::Format::Csv:
      return read_task_jobs(request.text, csv, request.defaults, limits);
  }
  return {};
}

}  // namespace

struct SubmitTexts::ReadText {
  TextRequest request;
  TextJobs jobs;
  std::optional<std::uint64_t> seed;
  std::shared_ptr<void> room;
};

void SubmitTexts::handle(RoutedRequest asked) {
  const uid_t user = asked.request.peer.uid;
  const Peer peer = asked.request.peer;
  const bool check_only = asked.verb == "check";
  TaskFormat csv;
  csv.folder = home_of(user);
  // What a user may not see is not told by whether its name is a mistake.
  csv.files_must_exist = user == ::getuid();
  jobs_.read_apart(
      std::move(asked),
      [this, user, peer, check_only, csv](std::string body,
                                          const Worker::Turn& turn) -> SubmitJobs::Finish {
        Result<TextRequest> request = parse_text_request(body);
        if (!request) {
          return [this, error = request.error()](Turns::Reply reply) {
            desk_.answer(std::move(reply), failed(error));
          };
        }
        std::string().swap(body);
        const auto read = std::make_shared<ReadText>();
        read->request = std::move(*request);
        read->room = turn.room;
        JobDescription& defaults = read->request.defaults;
        defaults.directory = defaults.directory.empty() ? csv.folder : defaults.directory;
        TaskFormat format = csv;
        format.header = read->request.header;
        const TextLimits limits{check_only ? kShown : TextLimits::kAll, true, turn.patience};
        read->jobs = read_text(read->request, format, limits, read->seed);
        std::string().swap(read->request.text);
        if (read->jobs.count == 0 && read->jobs.problems.empty()) {
          read->jobs.complain(0, 0, "the text holds no jobs");
        }
        return [this, read, user, peer, check_only](Turns::Reply reply) {
          if (check_only) {
            desk_.answer(std::move(reply), checked(*read, user));
          } else {
            queue(std::move(reply), *read, peer);
          }
        };
      });
}

/// What the text itself does not tell: whether such jobs can run here.
HttpResponse SubmitTexts::checked(ReadText& read, uid_t user) {
  TextJobs& jobs = read.jobs;
  TextReply reply;
  reply.count = jobs.count;
  reply.seed = read.seed;
  for (std::size_t i = 0; i < jobs.jobs.size(); ++i) {
    reply.jobs.push_back(&jobs.jobs[i].description);
    SubmittedJob job = jobs.jobs[i];
    if (const Result<void> checked = check_job(desk_, job, user); !checked) {
      jobs.complain(jobs.lines[i], 1, checked.error().message);
    }
  }
  for (const auto& [needs, line] : jobs.other_needs) {
    JobSpec spec;
    spec.needs = needs;
    Result<void> checked = desk_.driver.mps().settle(spec.needs, user);
    checked = checked ? desk_.scheduler().check_submission(spec) : checked;
    if (!checked) {
      jobs.complain(line, 1, checked.error().message);
    }
  }
  for (TextProblem& problem : jobs.problems) {
    reply.problems.push_back({problem.line, problem.column, std::move(problem.message)});
  }
  return json(to_json(reply));
}

void SubmitTexts::queue(Turns::Reply reply, ReadText& read, const Peer& peer) {
  if (!read.jobs.problems.empty()) {
    std::string text = "nothing was queued:";
    for (std::size_t i = 0; i < std::min(read.jobs.problems.size(), kProblemsTold); ++i) {
      const TextProblem& problem = read.jobs.problems[i];
      text += problem.line == 0 ? fmt::format("\n  {}", problem.message)
                                : fmt::format("\n  line {}, column {}: {}", problem.line,
                                              problem.column, problem.message);
    }
    return desk_.answer(std::move(reply), failed({ErrorCode::Usage, text}));
  }
  SubmitRequest submission;
  submission.token = std::move(read.request.token);
  submission.defaults = std::move(read.request.defaults);
  submission.environment_from = read.request.environment_from;
  submission.jobs = std::move(read.jobs.jobs);
  submission.room = std::move(read.room);
  jobs_.queue(std::move(reply), std::move(submission), peer);
}

}  // namespace berth
