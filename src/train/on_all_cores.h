// Work that shares nothing, on all cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace berth {

/// Calls `work(i)` for all i below `count`, on all cores.
template <class Work>
void on_all_cores(std::size_t count, unsigned threads, Work work) {
  std::atomic<std::size_t> next = 0;
  const auto go = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      work(i);
    }
  };
  const std::size_t cores =
      threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> helpers;
  for (std::size_t i = 1; i < std::min(cores, count); ++i) {
    helpers.emplace_back(go);
  }
  go();
  for (std::thread& helper : helpers) {
    helper.join();
  }
}

}  // namespace berth
