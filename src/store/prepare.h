// Preparing many statements with one check.
#pragma once

#include <initializer_list>
#include <string_view>

#include "store/sqlite.h"

namespace berth {

struct ToPrepare {
  Statement& statement;
  std::string_view sql;
};

inline Result<void> prepare_all(Database& database, std::initializer_list<ToPrepare> all) {
  for (const ToPrepare& each : all) {
    Result<Statement> statement = database.prepare(each.sql);
    if (!statement) {
      return Failure(statement.error());
    }
    each.statement = std::move(*statement);
  }
  return {};
}

}  // namespace berth
