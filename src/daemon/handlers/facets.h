// GET /v1/facets: by what jobs can be chosen: the projects, users, labels and sweeps that there
// are.
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

  /// Whoever asks while they are being counted gets the same answer.
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

/// One more job of a sweep, in the order of their numbers.
void count_in_sweep(FacetsReply::Sweep& sweep, JobId job, JobPhase phase);

/// The same for a user who does not see the jobs of others: what this user's own jobs can be chosen
/// by. Read job by job: one user has few beside all.
void list_own_facets(Desk& desk, RoutedRequest asked);

}  // namespace berth
