// Inserting and forgetting jobs.
#include <fmt/format.h>

#include "store/fields.h"
#include "store/writer.h"

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

Result<void> Writer::write(const InsertJobs& change) {
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
    counters_.by_phase[static_cast<std::size_t>(phase)] += change.count;
    counters_.next_id = change.first.value + change.count;
  }
  return {};
}

Result<void> Writer::write(const Amend& change) {
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

Result<void> Writer::write(const SetSetting& change) {
  return set_setting_.run(std::string_view(change.name), Blob{change.value});
}

Result<void> Writer::write(const ForgetJobs& change) {
  for (const JobId job : change.jobs) {
    if (Result<void> done = forget(job, true); !done) {
      return done;
    }
  }
  return {};
}

Result<void> Writer::forget(JobId job, bool counted) {
  read_shared_.start(job.value);
  const Result<bool> row = read_shared_.step();
  if (!row) {
    return Failure(row.error());
  }
  if (!*row) {
    return {};
  }
  counters_.by_phase[static_cast<std::size_t>(read_shared_.integer(0))] -= counted ? 1 : 0;
  for (int column = 1; column <= 5; ++column) {
    if (!read_shared_.null(column)) {
      interner_.drop(read_shared_.integer(column));
    }
  }
  read_shared_.reset();

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
  for (Statement* statement : {&delete_job_, &delete_details_, &delete_attempts_, &delete_token_}) {
    if (Result<void> done = statement->run(job.value); !done) {
      return done;
    }
  }
  return {};
}

}  // namespace berth
