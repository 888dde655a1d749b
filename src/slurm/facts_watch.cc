#include "slurm/facts_watch.h"

namespace berth {

void FactsWatch::learn() {
  constexpr std::chrono::seconds kPause(60);
  constexpr std::chrono::seconds kPauseOfUnknown(5);
  const SlurmTime now = means_.alarm.now();
  if (learning_ || now < next_) {
    return;
  }
  learning_ = true;
  next_ = now + (facts_.known() ? kPause : kPauseOfUnknown);
  // Before the queue is asked for the first time: whether sacct can help is known by then.
  learn_config();
  learn_partitions();
  means_.slurm.ask({"scontrol", "--oneliner", "--details", "show", "nodes"},
                   [this](const SlurmAnswer& answer) {
                     learning_ = false;
                     if (answer.ok()) {
                       facts_.nodes = read_nodes(answer.output);
                     }
                   });
}

void FactsWatch::learn_partitions() {
  means_.slurm.ask({"scontrol", "--oneliner", "show", "partition"},
                   [this](const SlurmAnswer& answer) {
                     if (answer.ok()) {
                       facts_.partitions = read_partitions(answer.output);
                     }
                   });
}

void FactsWatch::learn_config() {
  means_.slurm.ask({"scontrol", "show", "config"}, [this](const SlurmAnswer& answer) {
    if (answer.ok()) {
      read_config(answer.output, facts_);
    }
  });
}

}  // namespace berth
