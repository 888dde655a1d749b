// Interner: keeps contents that many jobs have in common (environments, directories, needs,
// projects) once, in the table `shared`, with the number of their uses.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "store/sqlite.h"

namespace berth {

class Interner {
 public:
  static Result<Interner> make(Database& database);

  /// The number of this content, which gains this many uses.
  Result<std::int64_t> use(const std::string& content, std::int64_t uses);
  /// Removes one use; the content goes with its last use.
  void drop(std::int64_t id) { --changed_[id]; }

  /// The number of this content, if it is stored.
  Result<std::optional<std::int64_t>> find(std::string_view content);
  Result<std::string> content(std::int64_t id);

  /// Writes the changed numbers of uses. Call this before a commit.
  Result<void> flush();
  /// The transaction was rolled back.
  void forget_changes();

 private:
  Statement find_;
  Statement content_;
  Statement insert_;
  Statement add_uses_;
  Statement remove_;
  std::unordered_map<std::string, std::int64_t> known_;
  std::map<std::int64_t, std::int64_t> changed_;  // uses since the last commit
};

}  // namespace berth
