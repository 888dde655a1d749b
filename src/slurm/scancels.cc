#include "slurm/scancels.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace berth {

void Scancels::add(const SlurmBatch& batch, std::uint32_t index, std::string_view how) {
  add(batch.call_id(index), how);
}

void Scancels::add(std::string id, std::string_view how) {
  if (!id.empty()) {
    ids_[std::string(how)].push_back(std::move(id));
  }
}

std::vector<std::vector<std::string>> Scancels::take() {
  constexpr std::size_t kAtOnce = 500;
  std::vector<std::vector<std::string>> calls;
  for (const auto& [how, ids] : std::exchange(ids_, {})) {
    for (std::size_t from = 0; from < ids.size(); from += kAtOnce) {
      std::vector<std::string> words = {"scancel", "--quiet"};
      for (std::string_view rest = how; !rest.empty();) {
        words.emplace_back(take_until(rest, ' '));
      }
      words.insert(words.end(), ids.begin() + static_cast<std::ptrdiff_t>(from),
                   ids.begin() + static_cast<std::ptrdiff_t>(std::min(from + kAtOnce, ids.size())));
      calls.push_back(std::move(words));
    }
  }
  return calls;
}

}  // namespace berth
