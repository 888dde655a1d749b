#include "slurm/slurm_caller.h"

#include <unistd.h>

#include <algorithm>

#include "base/failpoint.h"
#include "base/text.h"
#include "slurm/batch_folder.h"
#include "slurm/squeue_table.h"

namespace berth {
namespace {

std::vector<std::string> own_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    all.emplace_back(*entry);
  }
  return all;
}

}  // namespace

SlurmCaller::SlurmCaller(const SlurmSettings& settings, Run run, Chores::Where where)
    : settings_(settings), run_(std::move(run)), chores_(where) {}

std::string number_in_answer(const SlurmAnswer& answer) {
  std::string_view text = trim(answer.output);
  return std::string(take_until(text, ';'));
}

SlurmCall SlurmCaller::call(std::vector<std::string> words) const {
  SlurmCall made;
  const std::string path = find_program(settings_.bin, words[0]);
  words[0] = path.empty() ? words[0] : path;
  made.words = std::move(words);
  made.environment = slurm_environment(own_environment(), settings_.conf);
  made.environment.emplace_back("SLURM_TIME_FORMAT=%s");
  made.environment.emplace_back("SLURM_BITSTR_LEN=0");  // indices of arrays in full
  made.patience = settings_.patience;
  return made;
}

void SlurmCaller::ask(std::vector<std::string> words, Answered answered) {
  chores_.add(
      [this, call = call(std::move(words)), answered = std::move(answered)]() -> Chores::Finish {
        return [answered, answer = run_(call, chores_.stop_fd())] { answered(answer); };
      });
}

void SlurmCaller::submit(const SlurmBatch& batch, const std::vector<std::uint32_t>& indices,
                         Answered answered) {
  std::vector<std::string> words = {"sbatch",
                                    "--parsable",
                                    "--job-name=" + batch.name,
                                    "--comment=" + batch.name,
                                    "--output=/dev/null",
                                    "--chdir=/",
                                    "--kill-on-invalid-dep=yes"};
  words.insert(words.end(), batch.options.begin(), batch.options.end());
  if (batch.elements.size() > 1) {
    words.push_back("--array=" + write_indices(indices));
  }
  SlurmCall made = call(std::move(words));
  made.environment = slurm_environment(batch.environment, settings_.conf);
  made.input = wrapper_script(batch.folder, batch.send);
  if (std::find(batch.options.begin(), batch.options.end(), "--requeue") != batch.options.end()) {
    made.input.insert(made.input.find('\n') + 1, "_b_again=1\n");
  }
  chores_.add([this, made = std::move(made), folder = batch.folder, send = batch.send,
               answered = std::move(answered)]() -> Chores::Finish {
    // That there may be a submission must be known before there is one.
    SlurmAnswer answer;
    if (const Result<void> noted = write_sent(folder, {send, ""}); !noted) {
      answer.errors = noted.error().message;
      return [answered, answer] { answered(answer); };
    }
    (void)BERTH_FAILPOINT("slurm.before_sbatch");
    answer = run_(made, chores_.stop_fd());
    (void)BERTH_FAILPOINT("slurm.after_sbatch");
    if (answer.ok()) {
      (void)write_sent(folder, {send, number_in_answer(answer)}).has_value();
    }
    return [answered, answer] { answered(answer); };
  });
}

}  // namespace berth
