#include "slurm/inquiry.h"

#include "slurm/squeue_table.h"

namespace berth {
namespace {

constexpr std::size_t kMostAtOnce = 50;

template <class Texts>
std::string with_commas(const Texts& texts) {
  std::string all;
  for (const std::string& text : texts) {
    all += (all.empty() ? "" : ",") + text;
  }
  return all;
}

}  // namespace

bool Inquiry::ask(std::function<void()> done) {
  Names asked = books_.missing(means_.alarm.now(), kMostAtOnce);
  if (asked.empty()) {
    return false;
  }
  std::vector<std::string> ids;
  for (const auto& [name, index] : asked) {
    SlurmBatch& batch = *books_.find(name);
    batch.elements[index].judged = true;
    ids.push_back(batch.call_id(index));
  }
  means_.slurm.ask(
      {"squeue", "--me", "--noheader", "--states=all", "--jobs=" + with_commas(ids),
       "--Format=" + std::string(kSqueueFormat)},
      [this, asked = std::move(asked), done = std::move(done)](const SlurmAnswer& answer) {
        take_squeue(asked, answer);
        done();
      });
  return true;
}

SlurmBatch* Inquiry::answered(const BatchBooks::Name& name) {
  SlurmBatch* const batch = books_.find(name.first);
  if (batch != nullptr) {
    batch->elements[name.second].judged = false;
  }
  return batch == nullptr || batch->elements[name.second].is_over() ? nullptr : batch;
}

void Inquiry::take_squeue(const Names& asked, const SlurmAnswer& answer) {
  // An unknown number alone is an error to squeue.
  const bool none = !answer.ok() && answer.errors.find("Invalid job id") != std::string::npos;
  const std::vector<SqueueRow> rows =
      answer.ok() ? read_squeue(answer.output) : std::vector<SqueueRow>();
  for (const BatchBooks::Name& name : asked) {
    SlurmBatch* const batch = answered(name);
    if (batch != nullptr && (answer.ok() || none)) {  // if the cluster does not answer: later
      judge_.judge(*batch, name.second, find_row(rows, name.first, name.second));
    }
  }
}

}  // namespace berth
