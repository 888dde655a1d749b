#include "daemon/handlers/jobs.h"
#include "daemon/secrets.h"

namespace berth {
namespace {

HttpResponse shown(Desk& desk, JobReports& reports, JobId id, const Peer& peer) {
  const Result<JobRecord> record = desk.store.jobs().record(id);
  if (!record) {
    return failed(record.error());
  }
  Result<JobReport> full = reports.full_report(*record);
  if (!full) {
    return failed(full.error());
  }
  if (Desk::may_change(peer, record->description.user)) {
    full->environment = mask_secrets(record->description.environment);
  }
  return json(to_json(desk.privacy.shown(std::move(*full), peer.uid)));
}

}  // namespace

void show_job(Desk& desk, JobReports& reports, RoutedRequest asked) {
  desk.answer(std::move(asked.reply), shown(desk, reports, asked.job, asked.request.peer));
}

}  // namespace berth
