#include "store/interner.h"

#include <fmt/format.h>

#include "store/coding.h"
#include "store/prepare.h"

namespace berth {

Result<Interner> Interner::make(Database& database) {
  Interner interner;
  const Result<void> prepared = prepare_all(
      database,
      {{interner.find_, "SELECT id FROM shared WHERE hash = ?1 AND content = ?2"},
       {interner.content_, "SELECT content FROM shared WHERE id = ?1"},
       {interner.insert_, "INSERT INTO shared(hash, uses, content) VALUES(?1, 0, ?2) RETURNING id"},
       {interner.add_uses_, "UPDATE shared SET uses = uses + ?2 WHERE id = ?1"},
       {interner.remove_, "DELETE FROM shared WHERE id = ?1 AND uses <= 0"}});
  if (!prepared) {
    return Failure(prepared.error());
  }
  return interner;
}

Result<std::int64_t> Interner::use(const std::string& content, std::int64_t uses) {
  const auto known = known_.find(content);
  if (known != known_.end()) {
    changed_[known->second] += uses;
    return known->second;
  }
  const Result<std::optional<std::int64_t>> found = find(content);
  if (!found) {
    return Failure(found.error());
  }
  std::int64_t id = found->value_or(0);
  if (!found->has_value()) {
    insert_.start(content_hash(content), Blob{content});
    const Result<bool> row = insert_.step();
    if (!row) {
      return Failure(row.error());
    }
    id = insert_.integer(0);
    insert_.reset();
  }
  constexpr std::size_t kMostKnown = 4096;
  if (known_.size() >= kMostKnown) {
    known_.clear();
  }
  known_.emplace(content, id);
  changed_[id] += uses;
  return id;
}

Result<std::optional<std::int64_t>> Interner::find(std::string_view content) {
  find_.start(content_hash(content), Blob{content});
  const Result<bool> row = find_.step();
  if (!row) {
    return Failure(row.error());
  }
  std::optional<std::int64_t> id;
  if (*row) {
    id = find_.integer(0);
  }
  find_.reset();
  return id;
}

Result<std::string> Interner::content(std::int64_t id) {
  content_.start(id);
  const Result<bool> row = content_.step();
  if (!row) {
    return Failure(row.error());
  }
  if (!*row) {
    return fail(ErrorCode::Io, fmt::format("the database is damaged: it lacks content {}", id));
  }
  std::string content(content_.bytes(0));
  content_.reset();
  return content;
}

Result<void> Interner::flush() {
  for (const auto& [id, uses] : changed_) {
    if (Result<void> added = add_uses_.run(id, uses); !added) {
      return added;
    }
    if (uses <= 0) {
      known_.clear();
      if (Result<void> removed = remove_.run(id); !removed) {
        return removed;
      }
    }
  }
  changed_.clear();
  return {};
}

void Interner::forget_changes() {
  known_.clear();
  changed_.clear();
}

}  // namespace berth
