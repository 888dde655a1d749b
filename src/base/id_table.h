// IdTable: values by JobId, found in constant time and visited in order of id. Ids are dense and
// grow, so they index chunks directly. A chunk is freed when its last value is erased, so a process
// that has seen millions of jobs stays as small as its present queue.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/ids.h"

namespace berth {

template <class T>
class IdTable {
 public:
  /// References stay valid until the value is erased.
  T& insert(JobId id, T value) {
    std::unique_ptr<Chunk>& chunk = chunk_for_insert(id);
    std::optional<T>& cell = chunk->cells[id.value % kChunk];
    BERTH_CHECK(!cell.has_value());
    ++chunk->live;
    ++size_;
    return cell.emplace(std::move(value));
  }

  T* find(JobId id) {
    const std::size_t index = id.value / kChunk;
    if (index >= chunks_.size() || chunks_[index] == nullptr) {
      return nullptr;
    }
    std::optional<T>& cell = chunks_[index]->cells[id.value % kChunk];
    return cell.has_value() ? &*cell : nullptr;
  }
  const T* find(JobId id) const { return const_cast<IdTable*>(this)->find(id); }

  void erase(JobId id) {
    BERTH_CHECK(find(id) != nullptr);
    std::unique_ptr<Chunk>& chunk = chunks_[id.value / kChunk];
    chunk->cells[id.value % kChunk].reset();
    --size_;
    if (--chunk->live == 0) {
      chunk.reset();
    }
  }

  std::size_t size() const { return size_; }

  template <class Visit>
  void for_each(Visit visit) {
    for (const std::unique_ptr<Chunk>& chunk : chunks_) {
      if (chunk == nullptr) {
        continue;
      }
      for (std::optional<T>& cell : chunk->cells) {
        if (cell.has_value()) {
          visit(*cell);
        }
      }
    }
  }
  /// Visits up to `most` values with ids from `from` on. Returns the id to continue from; nothing
  /// when no values are left.
  template <class Visit>
  std::optional<JobId> visit_some(JobId from, std::size_t most, Visit visit) const {
    for (std::uint64_t id = from.value; id / kChunk < chunks_.size(); ++id) {
      const std::unique_ptr<Chunk>& chunk = chunks_[id / kChunk];
      if (chunk == nullptr) {
        id |= kChunk - 1;
      } else if (const std::optional<T>& cell = chunk->cells[id % kChunk]; cell.has_value()) {
        if (most-- == 0) {
          return JobId{id};
        }
        visit(*cell);
      }
    }
    return std::nullopt;
  }
  template <class Visit>
  void for_each(Visit visit) const {
    const_cast<IdTable*>(this)->for_each([&visit](const T& value) { visit(value); });
  }

 private:
  static constexpr std::size_t kChunk = 256;
  struct Chunk {
    std::array<std::optional<T>, kChunk> cells;
    std::size_t live = 0;
  };

  std::unique_ptr<Chunk>& chunk_for_insert(JobId id) {
    const std::size_t index = id.value / kChunk;
    if (index >= chunks_.size()) {
      chunks_.resize(index + 1);
    }
    if (chunks_[index] == nullptr) {
      chunks_[index] = std::make_unique<Chunk>();
    }
    return chunks_[index];
  }

  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace berth
