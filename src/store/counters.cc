#include "store/counters.h"

#include "store/prepare.h"

namespace berth {
namespace {

constexpr std::string_view kNextId = "next_id";
constexpr std::string_view kNextEntry = "next_entry";
constexpr std::string_view kRedone = "redone";

Result<void> read_numbers(Database& database, Counters& counters) {
  Result<Statement> statement = database.prepare("SELECT value FROM counters WHERE name = ?1");
  if (!statement) {
    return Failure(statement.error());
  }
  const auto load = [&](std::string_view name, std::uint64_t& counter) -> Result<void> {
    statement->start(name);
    const Result<bool> row = statement->step();
    if (!row) {
      return Failure(row.error());
    }
    if (*row) {
      counter = static_cast<std::uint64_t>(statement->integer(0));
    }
    return {};
  };
  for (std::size_t i = 0; i < kPhases; ++i) {
    if (Result<void> done = load(phase_name(static_cast<JobPhase>(i)), counters.by_phase[i]);
        !done) {
      return done;
    }
  }
  if (Result<void> done = load(kNextId, counters.next_id); !done) {
    return done;
  }
  if (Result<void> done = load(kNextEntry, counters.next_entry); !done) {
    return done;
  }
  return load(kRedone, counters.redone);
}

Result<void> read_staging(Database& database, Staging& staging) {
  Result<Statement> rows =
      database.prepare("SELECT first, count, complete FROM staged ORDER BY first");
  if (!rows) {
    return Failure(rows.error());
  }
  for (;;) {
    const Result<bool> row = rows->step();
    if (!row) {
      return Failure(row.error());
    }
    if (!*row) {
      return {};
    }
    staging.push_back({JobId{static_cast<std::uint64_t>(rows->integer(0))},
                       static_cast<std::uint64_t>(rows->integer(1)), rows->integer(2) != 0});
  }
}

}  // namespace

Result<Counters> read_counters(Database& database) {
  Counters counters;
  if (const Result<void> numbers = read_numbers(database, counters); !numbers) {
    return Failure(numbers.error());
  }
  if (const Result<void> staging = read_staging(database, counters.staging); !staging) {
    return Failure(staging.error());
  }
  return counters;
}

Result<void> CounterWriter::prepare(Database& database) {
  return prepare_all(
      database, {{set_counter_, "INSERT OR REPLACE INTO counters(name, value) VALUES(?1, ?2)"}});
}

Result<void> CounterWriter::write(const Counters& now, const Counters& committed) {
  const auto save = [&](std::string_view name, std::uint64_t value, std::uint64_t before) {
    return value == before ? Result<void>{} : set_counter_.run(name, value);
  };
  for (std::size_t i = 0; i < kPhases; ++i) {
    if (Result<void> done =
            save(phase_name(static_cast<JobPhase>(i)), now.by_phase[i], committed.by_phase[i]);
        !done) {
      return done;
    }
  }
  if (Result<void> done = save(kNextId, now.next_id, committed.next_id); !done) {
    return done;
  }
  if (Result<void> done = save(kNextEntry, now.next_entry, committed.next_entry); !done) {
    return done;
  }
  return save(kRedone, now.redone, committed.redone);
}

}  // namespace berth
