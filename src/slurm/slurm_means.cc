#include "slurm/slurm_means.h"

#include <fmt/format.h>

namespace berth {

void SlurmMeans::log(const std::string& text) const {
  if (settings.log) {
    settings.log(fmt::format("{}: {}", settings.name, text));
  }
}

}  // namespace berth
