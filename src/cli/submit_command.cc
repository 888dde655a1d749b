// `berth submit`: puts jobs into the daemon's queue.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "api/messages.h"
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/daemon_client.h"
#include "run/input.h"

namespace berth {
namespace {

struct SubmitCommand {
  SubmitRequest submission;
  std::string file;
  std::string document;
  std::string after;
  std::int64_t gpus = 1;
  std::int64_t priority = 0;
  std::int64_t retries = 0;
};

/// A command given as words runs as those words, whatever blanks and quotes are in them.
std::string shell_words(std::span<const std::string_view> words) {
  std::string command;
  for (const std::string_view word : words) {
    command += command.empty() ? "" : " ";
    const bool plain =
        !word.empty() && word.find_first_not_of(
                             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "@%_-+=:,./") == word.npos;
    if (plain) {
      command += word;
      continue;
    }
    command += '\'';
    for (const char c : word) {
      command += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    command += '\'';
  }
  return command;
}

Args declare(SubmitCommand& command) {
  JobDescription& job = command.submission.defaults;
  Args args(
      "berth submit [options] [--] COMMAND…",
      "Queues a job and prints its number. The job runs in this directory with this environment\n"
      "when devices are free, whether or not this terminal is still there.");
  args.rest("COMMAND…", "what to run; one word with blanks is a shell command",
            [&](std::span<const std::string_view> words) -> Result<void> {
              JobDescription& added = command.submission.jobs.emplace_back();
              added.command = words.size() == 1 ? std::string(words[0]) : shell_words(words);
              return {};
            });
  args.value("--file", "FILE", "queue the job lines in FILE, as berth run takes them; - is stdin",
             command.file);
  args.value(
      "--json", "FILE",
      "queue the jobs of a document {\"defaults\":{…},\"jobs\":[{\"command\":…},…]};\n- is stdin",
      command.document);
  args.value("-g,--gpus", "N", "GPUs that the job needs (default: 1)", command.gpus);
  args.value("--mem", "SIZE", "GPU memory that it claims on each", job.spec.needs.memory);
  args.value("--name", "NAME", "a name for the job", job.name);
  args.value("--project", "NAME", "a project to put it into", job.project);
  args.value("-p,--priority", "N", "lower runs first (default: 0)", command.priority);
  args.value("--timeout", "TIME", "the longest it may run", job.spec.limit);
  args.value("--expected", "TIME", "how long it is expected to run", job.spec.expected);
  args.value("--retries", "N", "run it again when it fails, up to N times", command.retries);
  args.value("--after", "JOBS", "start after others: ok:12,any:13,notok:14", command.after);
  args.flag("--hold", job.spec.held, "queue it, but do not start it before berth release");
  args.value("-o,--output", "PATH", "where its output goes; %j is its number, %n its name",
             job.output);
  args.value("-e,--error", "PATH", "where its errors go (default: with the output)", job.error);
  args.value("--token", "TEXT", "the same token again queues nothing again",
             command.submission.token);
  args.example("berth submit python train.py --lr 0.1");
  args.example("berth submit --gpus 2 --timeout 1d -- torchrun train.py");
  args.example("berth submit --file jobs.txt --name sweep");
  return args;
}

Result<void> read_lines(SubmitCommand& command) {
  Result<Input> input = Input::open(command.file, JobReader::Separator::Newline);
  if (!input) {
    return Failure(input.error());
  }
  for (bool more = true; more;) {
    const Result<bool> read = input->read_some();
    if (!read) {
      return Failure(read.error());
    }
    more = *read;
    while (auto item = input->reader().next()) {
      if (!*item) {
        return fail(ErrorCode::Usage, fmt::format("nothing was queued: line {} {}",
                                                  item->error().line, item->error().message));
      }
      JobDescription& job = command.submission.jobs.emplace_back();
      const LineOptions& options = (*item)->options;
      const JobDescription& defaults = command.submission.defaults;
      job.command = std::move((*item)->command);
      job.name = options.name.value_or("");
      job.project = options.project.value_or("");
      job.spec.needs.gpus = options.gpus.value_or(defaults.spec.needs.gpus);
      job.spec.needs.memory = options.memory.value_or(Bytes{});
      job.spec.needs.share = options.share.value_or(0);
      job.spec.priority = options.priority.value_or(0);
      job.spec.limit = options.timeout.value_or(kForever);
      job.spec.retry.most = options.retries.value_or(0);
      if (!options.after.empty()) {
        return fail(ErrorCode::Usage,
                    fmt::format("line {}: @after is not known to submit --file yet: use --after",
                                (*item)->line));
      }
    }
  }
  return {};
}

/// The document as it is; this directory and environment where it names none.
Result<void> read_document(SubmitCommand& command) {
  Result<Input> input = Input::open(command.document, JobReader::Separator::Newline);
  if (!input) {
    return Failure(input.error());
  }
  std::string text;
  for (bool more = true; more;) {
    char block[65536];
    const ssize_t got = ::read(input->fd(), block, sizeof block);
    if (got < 0) {
      return fail_errno(fmt::format("cannot read {}", command.document), errno);
    }
    text.append(block, static_cast<std::size_t>(got));
    more = got > 0;
  }
  Result<SubmitRequest> read = parse_submit_request(text);
  if (!read) {
    return Failure(read.error());
  }
  JobDescription& defaults = read->defaults;
  const JobDescription& ours = command.submission.defaults;
  if (defaults.environment.empty()) {
    defaults.environment = ours.environment;
  }
  for (JobDescription& job : read->jobs) {
    job.directory = job.directory.empty() ? ours.directory : job.directory;
  }
  if (!command.submission.token.empty()) {
    read->token = command.submission.token;
  }
  command.submission = std::move(*read);
  return {};
}

Result<int> execute(SubmitCommand& command) {
  JobDescription& defaults = command.submission.defaults;
  defaults.spec.needs.gpus = static_cast<std::uint32_t>(command.gpus);
  defaults.spec.priority = static_cast<std::int32_t>(command.priority);
  defaults.spec.retry.most = static_cast<std::uint16_t>(command.retries);
  std::error_code error;
  defaults.directory = std::filesystem::current_path(error).string();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    defaults.environment.emplace_back(*entry);
  }
  if (!command.after.empty()) {
    const std::string option = "@after=" + command.after + " x";
    std::string_view line = option;
    const Result<LineOptions> options = take_options(line);
    if (!options) {
      return Failure(options.error());
    }
    for (const AfterName& after : options->after) {
      const Result<std::int64_t> job = parse_integer(after.job, "--after");
      if (!job) {
        return Failure(job.error());
      }
      defaults.spec.after.push_back({JobId{static_cast<std::uint64_t>(*job)}, after.when});
    }
  }
  if (!command.file.empty()) {
    if (const Result<void> read = read_lines(command); !read) {
      return Failure(read.error());
    }
  }
  if (!command.document.empty()) {
    if (const Result<void> read = read_document(command); !read) {
      return Failure(read.error());
    }
  }
  if (command.submission.jobs.empty()) {
    return fail(ErrorCode::Usage, "nothing to queue: give a command, or --file FILE");
  }
  // A lone command has no say of its own: everything stands in the defaults.
  for (JobDescription& job : command.submission.jobs) {
    if (command.file.empty() && command.document.empty()) {
      job.spec = defaults.spec;
    }
  }
  Result<HttpClient> daemon = connect_daemon(true);
  if (!daemon) {
    return Failure(daemon.error());
  }
  const Result<std::string> body = ask(*daemon, "POST", "/v1/jobs", to_json(command.submission));
  if (!body) {
    return Failure(body.error());
  }
  const Result<SubmitReply> reply = parse_submit_reply(*body);
  if (!reply) {
    return Failure(reply.error());
  }
  if (reply->count == 1) {
    fmt::print("{}\n", reply->first.value);
  } else {
    fmt::print("{}-{}\n", reply->first.value, reply->first.value + reply->count - 1);
  }
  return 0;
}

}  // namespace

int submit_main(Words words) {
  SubmitCommand command;
  Args args = declare(command);
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth submit", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<int> code = execute(command);
  return code ? *code : report("berth submit", code.error());
}

}  // namespace berth
