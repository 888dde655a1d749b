#include "slurm/slurm_judge.h"

#include <fmt/format.h>

namespace berth {

void SlurmJudge::judge(SlurmBatch& batch, std::uint32_t index, const SqueueRow* row) {
  SlurmVerdict verdict =
      berth::judge(batch, index, row, means_.alarm.now(), means_.settings.folder);
  switch (verdict.kind) {
    case SlurmVerdict::Kind::Later:
      return;
    case SlurmVerdict::Kind::InQueue:
      batch.elements[index].found_again();
      return;
    case SlurmVerdict::Kind::SendAgain:
      return send_again(batch, row == nullptr);
    case SlurmVerdict::Kind::Over:
      books_.end(batch, index, std::move(verdict.end));
      return means_.alarm.wake();
    case SlurmVerdict::Kind::OverIfFree:
      return end_if_free(batch, index, std::move(verdict.end));
    case SlurmVerdict::Kind::OverIfUnclaimed:
      return end_if_unclaimed(batch, index, std::move(verdict.end));
  }
}

void SlurmJudge::send_again(SlurmBatch& batch, bool lost) {
  if (lost) {
    means_.log(fmt::format("Slurm has lost submission {}: it is sent again", batch.id));
  }
  batch.state = SlurmBatch::State::Ready;
  batch.retry = {};
  means_.alarm.wake();
}

void SlurmJudge::end_if_free(SlurmBatch& batch, std::uint32_t index, AttemptEnd over) {
  batch.elements[index].judged = true;
  means_.files.try_lock(
      batch.folder, index, [this, name = batch.name, index, over = std::move(over)](bool free) {
        SlurmBatch* const late = books_.find(name);
        if (late == nullptr) {
          return;
        }
        BatchElement& element = late->elements[index];
        element.judged = false;
        if (element.is_over() || element.ended) {
          return;
        }
        if (!free) {
          element.note = "Slurm has lost it, and its processes may still run on their node";
          return;
        }
        books_.end(*late, index, over);
        means_.alarm.wake();
      });
}

void SlurmJudge::end_if_unclaimed(SlurmBatch& batch, std::uint32_t index, AttemptEnd over) {
  batch.elements[index].judged = true;
  means_.files.withdraw(batch.folder, index,
                        [this, name = batch.name, index, over = std::move(over)](bool never) {
                          SlurmBatch* const late = books_.find(name);
                          if (late == nullptr) {
                            return;
                          }
                          late->elements[index].judged = false;
                          if (never) {
                            books_.end(*late, index, over);
                            means_.alarm.wake();
                          }
                        });
}

}  // namespace berth
