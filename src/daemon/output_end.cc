// What attempts have printed last: it may say that they ran out of memory.
#include <array>
#include <utility>

#include "core/out_of_memory.h"
#include "daemon/daemon.h"

namespace berth {

/// From its output, then from its error output. Where the files do not answer, nothing was said.
void Daemon::read_words(const AttemptEnd& end, std::string words, std::size_t file) {
  const DrivenAttempt* driven = driver_->attempt(end.job);
  const auto found = attempts_.find(end.job);
  if (driven == nullptr || driven->number != end.attempt || found == attempts_.end()) {
    return;
  }
  Attempt& attempt = found->second;
  const std::array paths = {&attempt.stdout_path, &attempt.stderr_path};
  while (file < paths.size() && paths[file]->empty()) {
    ++file;
  }
  if (file == paths.size()) {
    attempt.words = std::move(words);
    if (attempt.awaits_words) {
      take_end(end, now());
    }
    return;
  }
  FileQuestion question;
  question.path = *paths[file];
  question.from_end = true;
  question.most = kComplaintTail;
  user_files_.ask(driven->facts.user, std::move(question),
                  [this, end, words = std::move(words), file](const Result<FileAnswer>& answer) {
                    read_words(end, words + (answer ? answer->bytes : ""), file + 1);
                  });
}

/// True when they are not there yet: the end is taken again when they are.
bool Daemon::await_words(const AttemptEnd& end) {
  Attempt& attempt = attempts_[end.job];
  if (attempt.words) {
    return false;
  }
  attempt.awaits_words = false;
  read_words(end, "", 0);
  attempt.awaits_words = !attempt.words;
  return attempt.awaits_words;
}

}  // namespace berth
