#include "slurm/cluster_holders.h"

#include <fmt/format.h>

#include "base/text.h"
#include "slurm/squeue_table.h"

namespace berth {
namespace {

/// The value of the first ` KEY=value` from `from` on.
std::string_view field(std::string_view line, std::string_view key, std::size_t from = 0) {
  const std::size_t at = line.find(key, from);
  if (at == line.npos) {
    return {};
  }
  std::string_view rest = line.substr(at + key.size());
  return rest.substr(0, rest.find(' '));
}

}  // namespace

std::map<std::pair<std::string, std::uint32_t>, DeviceHolder> read_holders(
    std::string_view output) {
  std::map<std::pair<std::string, std::uint32_t>, DeviceHolder> holders;
  while (!output.empty()) {
    const std::string_view line = take_until(output, '\n');
    if (field(line, " JobState=") != "RUNNING") {
      continue;
    }
    DeviceHolder holder;
    const std::string_view array = field(line, " ArrayJobId=");
    holder.job = array.empty() ? std::string(field(line, "JobId="))
                               : fmt::format("{}_{}", array, field(line, " ArrayTaskId="));
    std::string_view user = field(line, " UserId=");
    holder.user = take_until(user, '(');
    holder.name = field(line, " JobName=");
    for (std::size_t at = line.find(" Nodes="); at != line.npos;
         at = line.find(" Nodes=", at + 1)) {
      const std::string node(field(line, " Nodes=", at));
      const std::string_view gres = field(line, " GRES=", at);
      const std::size_t numbers = gres.find("(IDX:");
      if (numbers == gres.npos) {
        continue;
      }
      std::string_view list = gres.substr(numbers + 5);
      for (const auto& [first, last] : read_indices(take_until(list, ')'))) {
        for (std::uint32_t each = first; each <= last; ++each) {
          holders[{node, each}] = holder;
        }
      }
    }
  }
  return holders;
}

}  // namespace berth
