// SubmissionParts: splits a submission of any size into requests that stay within the bounds of one
// request. A job that follows a job of an earlier part names that job by its number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/messages/submit.h"

namespace berth {

class SubmissionParts {
 public:
  /// `submission` must outlive this object.
  explicit SubmissionParts(const SubmitRequest& submission) : submission_(submission) {}

  bool done() const { return begin_ == submission_.jobs.size(); }

  /// The body of the next request.
  std::string next();

  /// Takes the reply to that request. False when the number of jobs in the reply is not the number
  /// sent.
  bool queued(const SubmitReply& reply);

 private:
  SubmittedJob job_at(std::size_t position) const;
  std::string body_of(std::size_t end) const;

  const SubmitRequest& submission_;
  std::size_t begin_ = 0;  // of this part
  std::size_t end_ = 0;
  std::size_t part_ = 0;
  std::vector<JobId> numbers_;  // the first number of each queued job
};

}  // namespace berth
