// SubmissionParts: a submission of any size as requests that keep within the bounds of one. Jobs of
// a later part that follow jobs of an earlier one name them by their numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/messages/submit.h"

namespace berth {

class SubmissionParts {
 public:
  /// `submission` must outlive it.
  explicit SubmissionParts(const SubmitRequest& submission) : submission_(submission) {}

  bool done() const { return begin_ == submission_.jobs.size(); }

  /// The body of the next request.
  std::string next();

  /// What it was answered with. False when those are not as many jobs as were sent.
  bool queued(const SubmitReply& reply);

 private:
  SubmittedJob job_at(std::size_t position) const;
  std::string body_of(std::size_t end) const;

  const SubmitRequest& submission_;
  std::size_t begin_ = 0;  // of this part
  std::size_t end_ = 0;
  std::size_t part_ = 0;
  std::vector<JobId> numbers_;  // the first of each job that is queued
};

}  // namespace berth
