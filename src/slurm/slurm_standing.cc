#include "slurm/slurm_standing.h"

#include <fmt/format.h>

#include "slurm/slurm_words.h"

namespace berth {

SlurmStanding standing_of(const BatchPlace& place, const std::string& trouble) {
  const SlurmBatch& batch = *place.batch;
  const BatchElement& element = place.element();
  SlurmStanding standing;
  standing.pending = element.state == BatchElement::State::Waits;
  standing.id = batch.call_id(place.index);
  standing.node = element.node;
  standing.gpus = element.gpus;
  if (!standing.pending) {
    return standing;
  }
  if (!trouble.empty()) {
    standing.why = fmt::format("the cluster does not answer, and berth keeps trying: {}", trouble);
  } else if (!batch.trouble.empty()) {
    standing.why = batch.trouble;
  } else if (batch.state != SlurmBatch::State::Sent) {
    standing.why = "it is being handed to Slurm";
  } else {
    standing.why = why_pending(element.reason.empty() ? "None" : element.reason);
  }
  return standing;
}

}  // namespace berth
