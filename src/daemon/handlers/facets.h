// GET /v1/facets: the projects, users, labels and sweeps by which jobs can be chosen.
#pragma once

#include <vector>

#include "api/messages/facets.h"
#include "daemon/desk.h"
#include "daemon/kept_answer.h"
#include "daemon/routes.h"

namespace berth {

class FacetsHandler {
 public:
  explicit FacetsHandler(Desk& desk) : desk_(desk) {}

  /// Clients that ask during a count get the same answer.
  void handle(RoutedRequest asked);

 private:
  struct Facets;
  bool abandoned();
  void count_labels(const std::shared_ptr<Facets>& facets);
  void finish(const Facets& facets, const Result<std::string>& text);
  FacetsReply reply(const Facets& facets) const;

  Desk& desk_;
  KeptAnswer kept_;
  std::vector<Turns::Reply> waiting_;
};

/// Counts one more job of a sweep. Call it in the order of the job numbers.
void count_in_sweep(FacetsReply::Sweep& sweep, JobId job, JobPhase phase);

/// GET /v1/facets for a user who does not see the jobs of others: the facets of this user's own
/// jobs. Reads job by job, because one user has few of all jobs.
void list_own_facets(Desk& desk, RoutedRequest asked);

}  // namespace berth
