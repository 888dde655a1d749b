#include "store/backing.h"

#include <fmt/format.h>

#include "store/redo_log.h"
#include "store/schema.h"

namespace berth {

Result<Backing> Backing::open(const std::string& path) {
  Result<Database> database = open_database(path);
  if (!database) {
    return Failure(database.error());
  }
  auto parts = std::make_unique<Parts>(std::move(*database));
  const auto damaged = [&](const Error& error) {
    parts->database.merge_log_on_close(false);
    return fail(ErrorCode::Refused,
                fmt::format("{} is damaged ({}); berth leaves it as it is: move it away to begin "
                            "with an empty queue, or put a backup in its place",
                            path, error.message));
  };
  Result<std::unique_ptr<Writer>> writer = Writer::make(parts->database);
  if (!writer) {
    return damaged(writer.error());
  }
  parts->writer = std::move(*writer);
  Result<Reader> reader =
      Reader::make(parts->database, parts->writer->interner(), parts->writer->counters().staging);
  if (!reader) {
    return damaged(reader.error());
  }
  parts->reader.emplace(std::move(*reader));
  parts->group.emplace(parts->database, *parts->writer, RedoLog::open(path));
  if (const Result<void> recovered = parts->group->recover(); !recovered) {
    return damaged(recovered.error());
  }
  parts->files.emplace(path);
  return Backing(std::move(parts));
}

}  // namespace berth
