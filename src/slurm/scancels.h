// Scancels: gathers jobs that Slurm is to end or to signal, so that one call of scancel serves
// many. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "slurm/slurm_batch.h"

namespace berth {

class Scancels {
 public:
  /// `how`: options of scancel; none ends the job in Slurm. A job without a number is left out.
  void add(const SlurmBatch& batch, std::uint32_t index, std::string_view how = {});
  void add(std::string id, std::string_view how = {});
  /// The calls that are due, as words.
  std::vector<std::vector<std::string>> take();

 private:
  std::map<std::string, std::vector<std::string>> ids_;  // by the options
};

}  // namespace berth
