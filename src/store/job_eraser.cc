#include "store/job_eraser.h"

#include <fmt/format.h>

#include "store/fields.h"
#include "store/prepare.h"

namespace berth {

Result<void> JobEraser::prepare(Database& database) {
  return prepare_all(database,
                     {{read_shared_,
                       "SELECT state, needs, project, sweep, directory, environment "
                       "FROM jobs JOIN details ON job = id WHERE id = ?1"},
                      {read_rest_, "SELECT rest FROM details WHERE job = ?1 AND rest IS NOT NULL"},
                      {delete_job_, "DELETE FROM jobs WHERE id = ?1"},
                      {delete_details_, "DELETE FROM details WHERE job = ?1"},
                      {delete_label_, "DELETE FROM labels WHERE label = ?1 AND job = ?2"},
                      {delete_attempts_, "DELETE FROM attempts WHERE job = ?1"},
                      {delete_token_, "DELETE FROM tokens WHERE first = ?1"}});
}

Result<void> JobEraser::write(const ForgetJobs& change) {
  for (const JobId job : change.jobs) {
    if (Result<void> done = erase(job, true); !done) {
      return done;
    }
  }
  return {};
}

Result<void> JobEraser::erase(JobId job, bool counted) {
  read_shared_.start(job.value);
  const Result<bool> row = read_shared_.step();
  if (!row) {
    return Failure(row.error());
  }
  if (!*row) {
    return {};
  }
  counters_.in(static_cast<JobPhase>(read_shared_.integer(0))) -= counted ? 1 : 0;
  for (int column = 1; column <= 5; ++column) {
    if (!read_shared_.null(column)) {
      interner_.drop(read_shared_.integer(column));
    }
  }
  read_shared_.reset();

  if (Result<void> done = erase_labels(job); !done) {
    return done;
  }
  for (Statement* statement : {&delete_job_, &delete_details_, &delete_attempts_, &delete_token_}) {
    if (Result<void> done = statement->run(job.value); !done) {
      return done;
    }
  }
  return {};
}

Result<void> JobEraser::erase_labels(JobId job) {
  JobDescription description;
  read_rest_.start(job.value);
  const Result<bool> rest = read_rest_.step();
  if (!rest) {
    return Failure(rest.error());
  }
  if (*rest && !decode_rest(read_rest_.bytes(0), description)) {
    read_rest_.reset();
    return fail(ErrorCode::Io, fmt::format("the record of job {} is damaged", job.value));
  }
  read_rest_.reset();
  for (const auto& [key, value] : description.labels) {
    const auto label = interner_.find(encode_label(key, value));
    if (!label) {
      return Failure(label.error());
    }
    if (label->has_value()) {
      interner_.drop(**label);
      if (Result<void> done = delete_label_.run(**label, job.value); !done) {
        return done;
      }
    }
  }
  return {};
}

}  // namespace berth
