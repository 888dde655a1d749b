#include "slurm/inquiry.h"

#include <algorithm>
#include <set>

#include "slurm/sacct_table.h"

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

const SqueueRow* known_row(const BatchElement& element) {
  return element.accounted && !element.accounted->state.empty() ? &*element.accounted : nullptr;
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
  means_.slurm.ask({"squeue", "--me", "--noheader", "--states=all", "--jobs=" + with_commas(ids),
                    "--Format=" + std::string(kSqueueFormat)},
                   [this, asked = std::move(asked), done = std::move(done)](
                       const SlurmAnswer& answer) { take_squeue(asked, answer, done); });
  return true;
}

SlurmBatch* Inquiry::answered(const BatchBooks::Name& name) {
  SlurmBatch* const batch = books_.find(name.first);
  if (batch != nullptr) {
    batch->elements[name.second].judged = false;
  }
  return batch == nullptr || batch->elements[name.second].is_over() ? nullptr : batch;
}

/// Only an answer that decides is worth a call, and one is enough.
bool Inquiry::wants_sacct(const SlurmBatch& batch, std::uint32_t index) const {
  return facts_.accounting && !batch.elements[index].accounted &&
         judge(batch, index, nullptr, means_.alarm.now(), means_.settings.folder).kind !=
             SlurmVerdict::Kind::Later;
}

void Inquiry::take_squeue(const Names& asked, const SlurmAnswer& answer,
                          const std::function<void()>& done) {
  // An unknown number alone is an error to squeue.
  const bool none = !answer.ok() && answer.errors.find("Invalid job id") != std::string::npos;
  const std::vector<SqueueRow> rows =
      answer.ok() ? read_squeue(answer.output) : std::vector<SqueueRow>();
  Names unknown;
  std::set<std::string> ids;
  for (const BatchBooks::Name& name : asked) {
    SlurmBatch* const batch = answered(name);
    if (batch == nullptr || (!answer.ok() && !none)) {
      continue;  // if the cluster does not answer: later
    }
    BatchElement& element = batch->elements[name.second];
    if (const SqueueRow* row = find_row(rows, name.first, name.second); row != nullptr) {
      judge_.judge(*batch, name.second, row);
    } else if (wants_sacct(*batch, name.second)) {
      element.judged = true;
      unknown.push_back(name);
      ids.insert(element.id.empty() ? batch->id : element.id);
    } else {
      judge_.judge(*batch, name.second, known_row(element));
    }
  }
  if (unknown.empty()) {
    return done();
  }
  // By the array: sacct does not know the elements that were never apart from it.
  means_.slurm.ask({"sacct", "--noheader", "--parsable2", "--allocations",
                    "--format=" + std::string(kSacctFormat), "--jobs=" + with_commas(ids)},
                   [this, unknown = std::move(unknown), done](const SlurmAnswer& told) {
                     take_sacct(unknown, told);
                     done();
                   });
}

void Inquiry::take_sacct(const Names& asked, const SlurmAnswer& answer) {
  const std::vector<SqueueRow> rows =
      answer.ok() ? read_sacct(answer.output) : std::vector<SqueueRow>();
  for (const BatchBooks::Name& name : asked) {
    SlurmBatch* const batch = answered(name);
    if (batch == nullptr) {
      continue;
    }
    BatchElement& element = batch->elements[name.second];
    if (answer.ok()) {
      const SqueueRow* const row = find_row(rows, name.first, name.second);
      element.accounted = row == nullptr ? SqueueRow{} : *row;
    }
    judge_.judge(*batch, name.second, known_row(element));
  }
}

}  // namespace berth
