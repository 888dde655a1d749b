#include "daemon/last_words.h"

#include <utility>

#include "core/out_of_memory.h"

namespace berth {
namespace {

void read_end(UserFiles& files, uid_t user, const std::string& path,
              std::function<void(std::string)> done) {
  if (path.empty()) {
    return done("");
  }
  FileQuestion question;
  question.path = path;
  question.from_end = true;
  question.most = kComplaintTail;
  files.ask(user, std::move(question), [done = std::move(done)](const Result<FileAnswer>& answer) {
    done(answer ? answer->bytes : "");
  });
}

}  // namespace

void read_last_words(UserFiles& files, uid_t user, const std::string& stdout_path,
                     const std::string& stderr_path, std::function<void(std::string)> done) {
  read_end(files, user, stdout_path,
           [&files, user, stderr_path, done = std::move(done)](const std::string& printed) {
             read_end(files, user, stderr_path,
                      [printed, done](const std::string& errors) { done(printed + errors); });
           });
}

}  // namespace berth
