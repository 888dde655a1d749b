// Requests about jobs that keep no state between requests: one function each.
#pragma once

#include "daemon/desk.h"
#include "daemon/job_reports.h"
#include "daemon/log_folder.h"
#include "daemon/log_reader.h"
#include "daemon/routes.h"
#include "daemon/usage_book.h"
#include "daemon/waiters.h"

namespace berth {

/// GET /v1/jobs: a page of jobs, put together in pieces.
void list_jobs(Desk& desk, JobReports& reports, RoutedRequest asked);
/// GET /v1/jobs/{id}
void show_job(Desk& desk, JobReports& reports, RoutedRequest asked);
/// GET /v1/jobs/{id}/log
void read_job_log(Desk& desk, LogReader& logs, RoutedRequest asked);
/// GET /v1/jobs/{id}/usage: what an attempt used of its devices over time.
void show_usage(Desk& desk, const UsageBook& usage, RoutedRequest asked);
/// GET /v1/jobs/ids: which jobs match, and in which order. A table of a million rows needs no more
/// than that to scroll; the client then asks for the rows on screen by number.
void list_job_ids(Desk& desk, JobReports& reports, RoutedRequest asked);
/// GET /v1/timeline: which job had, has or is expected to have which devices.
void show_timeline(Desk& desk, JobReports& reports, const DaemonDevices& devices,
                   RoutedRequest asked);
/// GET /v1/wait: answered when the jobs have ended.
void wait_for_jobs(Desk& desk, Waiters& waiters, RoutedRequest asked);
/// POST /v1/jobs/forget
void forget_jobs(Desk& desk, const LogFolder& logs, UsageBook& usage, RoutedRequest asked);

}  // namespace berth
