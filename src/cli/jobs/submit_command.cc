// `berth submit`: puts jobs into the daemon's queue.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/bounds.h"
#include "cli/commands.h"
#include "cli/jobs/submission.h"
#include "cli/run/command_file.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/job_options.h"
#include "cli/toolkit/table.h"
#include "cli/toolkit/words.h"
#include "run/input.h"
#include "spec/peasy_outputs.h"
#include "spec/shell_words.h"
#include "spec/text_jobs.h"

namespace berth {
namespace {

/// That is read as a whole.
constexpr std::size_t kLongestFile = std::size_t{256} << 20;

struct SubmitCommand {
  JobOptions options;
  SubmitRequest submission;
  std::string command;
  std::string script;  // see script_of()
  std::string file;
  std::string format;
  std::string document;
  bool wait = false;
  bool overwrite = false;
};

/// The word that names a script, if the command starts one.
std::string script_of(std::span<const std::string_view> words) {
  const bool by_shell = words.size() > 1 && (words[0] == "bash" || words[0] == "sh");
  const std::string_view word = words[by_shell ? 1 : 0];
  return std::string(word.substr(0, word.find(' ')));
}

Args submit_args(SubmitCommand& command) {
  Args args(
      "berth submit [options] [--] COMMAND…",
      "Queues a job and prints its number. The job runs in this directory with this environment\n"
      "when devices are free, whether or not this terminal is still there.");
  args.rest("COMMAND…", "what to run; one word with blanks is a shell command",
            [&](std::span<const std::string_view> words) -> Result<void> {
              command.command = words.size() == 1 ? std::string(words[0]) : shell_words(words);
              command.script = script_of(words);
              return {};
            });
  args.value("--file", "FILE", "queue the job lines in FILE, as berth run takes them; - is stdin",
             command.file);
  args.value("--format", "FORMAT",
             "of FILE: lines (the default), or peasy for NAME;;OUTFILE;;COMMAND;;;\n"
             "(the default of FILE.esy)",
             command.format);
  args.flag("--overwrite", command.overwrite,
            "with peasy: write over an OUTFILE that exists, which is refused otherwise");
  args.value(
      "--json", "FILE",
      "queue the jobs of a document {\"defaults\":{…},\"jobs\":[{\"command\":…},…]};\n- is stdin",
      command.document);
  command.options.declare(args);
  args.value("--token", "TEXT", "the same token again queues nothing again",
             command.submission.token);
  args.flag("--wait", command.wait,
            "print the job's output as it comes, and end with its exit code; of several\n"
            "jobs, print how many have ended");
  args.example("berth submit python train.py --lr 0.1");
  args.example("berth submit --gpus 2 --timeout 1d --signal USR1@300 -- torchrun train.py");
  args.example("berth submit --mps --mem 4GiB --thread-percentage 30 ./serve.py");
  args.example("berth submit --file jobs.txt --project vision");
  args.example("berth submit --file grid.esy");
  args.example("berth submit --file batch.txt --format peasy --overwrite");
  args.example("berth submit --array 0-9 'train.py --fold $BERTH_ARRAY_INDEX'");
  args.example("berth submit --wait --after ok:12 ./evaluate.sh");
  return args;
}

/// All of a file, or of standard input; not more than `most` bytes.
Result<std::string> read_whole(const std::string& path, std::size_t most) {
  Result<Input> input = Input::open(path, JobReader::Separator::Newline);
  if (!input) {
    return Failure(input.error());
  }
  std::string text;
  for (bool more = true; more;) {
    char block[65536];
    const ssize_t got = ::read(input->fd(), block, sizeof block);
    if (got < 0) {
      return fail_errno(fmt::format("cannot read {}", path), errno);
    }
    text.append(block, static_cast<std::size_t>(got));
    if (text.size() > most) {
      return fail(ErrorCode::Usage, fmt::format("{} is longer than {} MiB: queue it in parts",
                                                path == "-" ? "standard input" : path, most >> 20));
    }
    more = got > 0;
  }
  return text;
}

Result<void> read_lines(SubmitCommand& command) {
  Result<Input> input = Input::open(command.file, JobReader::Separator::Newline);
  if (!input) {
    return Failure(input.error());
  }
  LineJobs lines(command.submission.defaults);
  for (bool more = true; more;) {
    const Result<bool> read = input->read_some();
    if (!read) {
      return Failure(read.error());
    }
    more = *read;
    while (auto item = input->next()) {
      if (!*item) {
        return fail(ErrorCode::Usage, fmt::format("nothing was queued: line {} {}",
                                                  item->error().line, item->error().message));
      }
      const std::size_t line = (*item)->line;
      Result<SubmittedJob> job = lines.add(std::move(**item));
      if (!job) {
        return fail(job.error().code,
                    fmt::format("nothing was queued: line {}: {}", line, job.error().message));
      }
      command.submission.jobs.push_back(std::move(*job));
      if (command.submission.jobs.size() > kMostQueued) {
        return fail(ErrorCode::Usage,
                    fmt::format("nothing was queued: there are more than {} jobs. Split the file",
                                kMostQueued));
      }
    }
  }
  return {};
}

/// GPUPeasy's format; whatever is wrong is told at once.
Result<void> read_peasy(SubmitCommand& command) {
  const Result<std::string> text = read_whole(command.file, kLongestFile);
  if (!text) {
    return Failure(text.error());
  }
  TextJobs read = read_peasy_jobs(*text, command.submission.defaults, {});
  std::string problems;
  for (const TextProblem& problem : read.problems) {
    problems +=
        fmt::format("\n  line {}, column {} {}", problem.line, problem.column, problem.message);
  }
  if (!problems.empty()) {
    return fail(ErrorCode::Usage,
                "nothing was queued, because of what is wrong in the file:" + problems);
  }
  if (!command.overwrite) {
    std::string lost;
    for (const TextProblem& problem : lost_outputs(read, command.submission.defaults)) {
      lost += fmt::format("\n  line {}: {}", problem.line, problem.message);
    }
    if (!lost.empty()) {
      return fail(ErrorCode::Refused,
                  "nothing was queued, because output would be lost "
                  "(--overwrite queues the jobs all the same):" +
                      lost);
    }
  }
  command.submission.jobs = std::move(read.jobs);
  return {};
}

/// The document as it is; this directory and environment where it names none.
Result<void> read_document(SubmitCommand& command) {
  const Result<std::string> text = read_whole(command.document, kLongestBody);
  if (!text) {
    return Failure(text.error());
  }
  Result<SubmitRequest> read = parse_submit_request(*text);
  if (!read) {
    return fail(read.error().code, "nothing was queued: " + read.error().message);
  }
  JobDescription& defaults = read->defaults;
  const JobDescription& ours = command.submission.defaults;
  if (defaults.environment.empty()) {
    defaults.environment = ours.environment;
  }
  for (SubmittedJob& job : read->jobs) {
    std::string& directory = job.description.directory;
    directory = directory.empty() ? ours.directory : directory;
  }
  if (!command.submission.token.empty()) {
    read->token = command.submission.token;
  }
  command.submission = std::move(*read);
  return {};
}

Result<void> gather_jobs(SubmitCommand& command) {
  Result<JobDescription> described = command.options.description();
  if (!described) {
    return Failure(described.error());
  }
  command.submission.defaults = std::move(*described);
  const int sources = !command.command.empty() + !command.file.empty() + !command.document.empty();
  if (sources != 1) {
    return fail(ErrorCode::Usage, sources == 0
                                      ? "nothing to queue: give a command, or --file FILE"
                                      : "give a command, --file or --json, not several of them");
  }
  if (!command.format.empty() && command.format != "lines" && command.format != "peasy") {
    return fail(ErrorCode::Usage,
                fmt::format("--format is lines or peasy, not '{}'", command.format));
  }
  if (!command.format.empty() && command.file.empty()) {
    return fail(ErrorCode::Usage, "--format needs --file");
  }
  if (command.format.empty() && command.file.ends_with(".esy")) {
    command.format = "peasy";
  }
  if (command.overwrite && command.format != "peasy") {
    return fail(ErrorCode::Usage, "--overwrite is for the output files of --format peasy");
  }
  if (!command.file.empty()) {
    if (Result<void> read = command.format == "peasy" ? read_peasy(command) : read_lines(command);
        !read) {
      return read;
    }
  } else if (!command.document.empty()) {
    return read_document(command);
  } else {
    SubmittedJob job{command.submission.defaults, 1, {}};
    job.description.environment.clear();
    job.description.command = command.command;
    command.submission.jobs.push_back(std::move(job));
  }
  for (SubmittedJob& job : command.submission.jobs) {
    if (Result<void> array = command.options.apply_array(job); !array) {
      return array;
    }
  }
  return {};
}

/// What a user may not have meant.
void warn_about(const SubmitCommand& command) {
  for (const SubmittedJob& job : command.submission.jobs) {
    if (ends_in_background(job.description.command)) {
      fmt::print(stderr,
                 "berth submit: '{}' ends in '&': its job ends at once, and what it leaves running "
                 "is ended with it; remove the '&'\n",
                 printable(job.description.command));
      break;
    }
  }
  if (command.script.empty() || command.options.says_gpus()) {
    return;
  }
  if (const auto gpus = slurm_gpus(command.script)) {
    fmt::print(stderr,
               "berth submit: {} has #SBATCH lines, which berth does not read{}; options go before "
               "the script: berth submit --gpus {} {}\n",
               command.script,
               *gpus > 1 ? fmt::format(": it asks for {} GPUs and gets 1", *gpus) : "",
               std::max<std::uint32_t>(1, *gpus), command.script);
  }
}

/// "12-40 51-60": tells how many have ended, and in the end how.
int wait_for(const std::string& ranges) {
  fmt::print(stderr, "jobs {}\n", ranges);
  return wait_main(split(ranges, ' '));
}

Result<int> execute_submit(SubmitCommand& command) {
  if (const Result<void> gathered = gather_jobs(command); !gathered) {
    return Failure(gathered.error());
  }
  if (command.submission.jobs.empty()) {
    return fail(ErrorCode::Usage,
                fmt::format("{} no jobs", command.file == "-" ? "standard input holds"
                                                              : command.file + " holds"));
  }
  warn_about(command);
  const Result<std::vector<SubmitReply>> replies = send_submission(command.submission);
  if (!replies) {
    return Failure(replies.error());
  }
  if (command.wait && (replies->size() != 1 || replies->front().count != 1)) {
    return wait_for(job_ranges(*replies));
  }
  if (command.wait) {
    if (::isatty(STDERR_FILENO) != 0) {
      // Whoever interrupts this leaves the job in the queue, and must be able to name it.
      fmt::print(stderr, "job {}\n", replies->front().first.value);
    }
    return follow_job(replies->front().first.value);
  }
  fmt::print("{}\n", job_ranges(*replies));
  return 0;
}

}  // namespace

int submit_main(Words words) {
  SubmitCommand command;
  Args args = submit_args(command);
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth submit", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<int> code = execute_submit(command);
  return code ? *code : report("berth submit", code.error());
}

}  // namespace berth
