#include "cli/jobs/submission_parts.h"

#include <fmt/format.h>

#include "base/bounds.h"
#include "core/job_bounds.h"

namespace berth {

/// As its part has it.
SubmittedJob SubmissionParts::job_at(std::size_t position) const {
  SubmittedJob job = submission_.jobs[position];
  std::vector<LocalDependency> follows;
  for (const LocalDependency& other : job.follows) {
    if (other.position >= begin_) {
      follows.push_back({other.position - begin_, other.when});
      continue;
    }
    for (std::uint32_t i = 0; i < submission_.jobs[other.position].count; ++i) {
      job.description.spec.after.push_back({JobId{numbers_[other.position].value + i}, other.when});
    }
  }
  job.follows = std::move(follows);
  return job;
}

std::string SubmissionParts::body_of(std::size_t end) const {
  SubmitRequest part;
  part.token = submission_.token;
  if (!part.token.empty() && part_ > 0) {
    part.token += fmt::format("/{}", part_ + 1);
  }
  part.defaults = submission_.defaults;
  part.environment_from = submission_.environment_from;
  part.continues = part_ > 0;
  for (std::size_t i = begin_; i < end; ++i) {
    part.jobs.push_back(job_at(i));
  }
  return to_json(part);
}

std::string SubmissionParts::next() {
  SubmissionMeter meter;
  end_ = begin_;
  while (end_ < submission_.jobs.size() && meter.add(job_at(end_))) {
    ++end_;
  }
  // One that is too much by itself is sent all the same: the daemon says what is wrong with it.
  end_ = std::max(end_, begin_ + 1);
  std::string body = body_of(end_);
  while (body.size() > kLongestBody && end_ - begin_ > 1) {
    end_ = begin_ + (end_ - begin_) / 2;
    body = body_of(end_);
  }
  return body;
}

bool SubmissionParts::queued(const SubmitReply& reply) {
  std::uint64_t number = reply.first.value;
  for (; begin_ < end_; ++begin_) {
    numbers_.push_back(JobId{number});
    number += submission_.jobs[begin_].count;
  }
  ++part_;
  return number - reply.first.value == reply.count;
}

}  // namespace berth
