#include "store/job_writer.h"

#include <fmt/format.h>

#include "store/fields.h"
#include "store/prepare.h"

namespace berth {
namespace {

constexpr std::size_t kMostText = std::size_t{64} << 20;

std::optional<std::int64_t> unless(std::int64_t value, std::int64_t usual) {
  return value == usual ? std::nullopt : std::optional(value);
}

std::optional<Blob> blob_unless_empty(const std::string& bytes) {
  return bytes.empty() ? std::nullopt : std::optional(Blob{bytes});
}

/// The columns of a JobSpec that is bound to a statement.
struct SpecColumns {
  explicit SpecColumns(const JobSpec& spec)
      : needs(encode_needs(spec.needs)),
        retry(encode_retry(spec.retry)),
        after(encode_after(spec.after)),
        expected(unless(spec.expected.count(), kForever.count())),
        limit(unless(spec.limit.count(), kForever.count())),
        begin(unless(spec.begin.time_since_epoch().count(), 0)),
        warn_before(unless(spec.warn_before.count(), 0)) {}

  std::string needs;
  std::string retry;
  std::string after;
  std::optional<std::int64_t> expected;
  std::optional<std::int64_t> limit;
  std::optional<std::int64_t> begin;
  std::optional<std::int64_t> warn_before;
};

}  // namespace

Result<void> check_texts(const JobDescription& job, std::size_t environment) {
  std::size_t size = environment;
  for (const std::string* text : {&job.name, &job.project, &job.command, &job.directory,
                                  &job.output, &job.error, &job.sweep}) {
    size += text->size();
  }
  for (const auto* pairs : {&job.labels, &job.parameters}) {
    for (const auto& [key, value] : *pairs) {
      size += key.size() + value.size();
    }
  }
  for (const auto* names :
       {&job.spec.needs.only, &job.spec.needs.exclude, &job.spec.needs.prefer}) {
    for (const std::string& name : *names) {
      size += name.size();
    }
  }
  if (size + job.spec.needs.model.size() > kMostText) {
    return fail(
        ErrorCode::Refused,
        "what a job says of itself, with its command and environment, must stay below 64 MiB");
  }
  return {};
}

Result<void> JobWriter::prepare(Database& database) {
  return prepare_all(
      database,
      {{insert_job_,
        "INSERT INTO jobs(id, state, user, submitted, attempt, priority, needs, held, expected, "
        "time_limit, begins, not_before, retry, after, warn_before, project, sweep, name, "
        "array_index) "
        "VALUES(?1, ?2, ?3, ?4, 0, ?5, ?6, ?7, ?8, ?9, ?10, ?10, ?11, ?12, ?13, ?14, ?15, ?16, "
        "?17)"},
       {insert_details_, "INSERT INTO details VALUES(?1, ?2, ?3, ?4, ?5)"},
       {insert_label_, "INSERT INTO labels(label, job) VALUES(?1, ?2)"},
       {insert_token_, "INSERT INTO tokens(first, count, user, token) VALUES(?1, ?2, ?3, ?4)"},
       {read_needs_, "SELECT needs FROM jobs WHERE id = ?1"},
       {amend_job_,
        "UPDATE jobs SET priority = ?2, needs = ?3, expected = ?4, time_limit = ?5, begins = ?6, "
        "not_before = ?6, retry = ?7, after = ?8, warn_before = ?9, name = ?10, claim = NULL "
        "WHERE id = ?1"},
       {amend_command_, "UPDATE details SET command = ?2 WHERE job = ?1"}});
}

Result<void> JobWriter::write(const InsertJobs& change) {
  const JobDescription& description = *change.description;
  const JobSpec& spec = description.spec;
  const bool staged = is_staged(counters_.staging, change.first);
  if (change.first.value < counters_.next_id && !staged) {
    return fail(ErrorCode::Refused, fmt::format("job {} exists already", change.first.value));
  }
  if (Result<void> checked = check_texts(description, change.environment->size()); !checked) {
    return checked;
  }
  const SpecColumns columns(spec);
  const auto share = [&](const std::string& content) {
    return interner_.use(content, change.count);
  };
  const auto share_unless_empty =
      [&](const std::string& content) -> Result<std::optional<std::int64_t>> {
    if (content.empty()) {
      return std::optional<std::int64_t>();
    }
    const Result<std::int64_t> id = share(content);
    return id ? Result<std::optional<std::int64_t>>(*id) : Failure(id.error());
  };
  const Result<std::int64_t> needs = share(columns.needs);
  const Result<std::int64_t> directory = share(description.directory);
  const Result<std::int64_t> environment = share(*change.environment);
  const auto project = share_unless_empty(description.project);
  const auto sweep = share_unless_empty(description.sweep);
  for (const Error* error :
       {needs ? nullptr : &needs.error(), directory ? nullptr : &directory.error(),
        environment ? nullptr : &environment.error(), project ? nullptr : &project.error(),
        sweep ? nullptr : &sweep.error()}) {
    if (error != nullptr) {
      return Failure(*error);
    }
  }
  std::vector<std::int64_t> labels;
  for (const auto& [key, value] : description.labels) {
    const Result<std::int64_t> label = share(encode_label(key, value));
    if (!label) {
      return Failure(label.error());
    }
    labels.push_back(*label);
  }
  const std::string rest = encode_rest(description);
  const JobPhase phase = spec.held ? JobPhase::Held : JobPhase::Queued;
  for (std::uint32_t i = 0; i < change.count; ++i) {
    const std::uint64_t id = change.first.value + i;
    std::optional<std::uint32_t> array_index = description.array_index;
    if (array_index) {
      *array_index += i;
    }
    if (Result<void> done = insert_job_.run(
            id, static_cast<int>(phase), description.user,
            change.submitted.time_since_epoch().count(), spec.priority, *needs, spec.held,
            columns.expected, columns.limit, columns.begin, blob_unless_empty(columns.retry),
            blob_unless_empty(columns.after), columns.warn_before, *project, *sweep,
            std::string_view(description.name), array_index);
        !done) {
      return done;
    }
    if (Result<void> done = insert_details_.run(id, std::string_view(description.command),
                                                *directory, *environment, blob_unless_empty(rest));
        !done) {
      return done;
    }
    for (const std::int64_t label : labels) {
      if (Result<void> done = insert_label_.run(label, id); !done) {
        return done;
      }
    }
  }
  if (!staged) {
    counters_.in(phase) += change.count;
    counters_.next_id = change.first.value + change.count;
  }
  return {};
}

Result<void> JobWriter::write(const RememberToken& change) {
  return insert_token_.run(change.submission.first.value, change.submission.count, change.user,
                           std::string_view(change.token));
}

Result<void> JobWriter::write(const Amend& change) {
  read_needs_.start(change.job.value);
  const Result<bool> row = read_needs_.step();
  if (!row) {
    return Failure(row.error());
  }
  if (!*row) {
    return fail(ErrorCode::NotFound, fmt::format("there is no job {}", change.job.value));
  }
  const std::int64_t before = read_needs_.integer(0);
  read_needs_.reset();
  const SpecColumns columns(change.spec);
  const Result<std::int64_t> needs = interner_.use(columns.needs, 1);
  if (!needs) {
    return Failure(needs.error());
  }
  interner_.drop(before);
  if (Result<void> done = amend_job_.run(
          change.job.value, change.spec.priority, *needs, columns.expected, columns.limit,
          columns.begin, blob_unless_empty(columns.retry), blob_unless_empty(columns.after),
          columns.warn_before, std::string_view(change.name));
      !done) {
    return done;
  }
  return amend_command_.run(change.job.value, std::string_view(change.command));
}

}  // namespace berth
