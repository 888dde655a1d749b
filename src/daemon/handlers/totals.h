// GET /v1/totals: what has been run and used since a given time.
#pragma once

#include <memory>

#include "daemon/desk.h"
#include "daemon/kept_answer.h"
#include "daemon/routes.h"

namespace berth {

class TotalsHandler {
 public:
  explicit TotalsHandler(Desk& desk) : desk_(desk) {}

  void handle(RoutedRequest asked);

 private:
  struct Totals;
  void count_ends(const std::shared_ptr<Totals>& totals);
  void finish(Totals& totals);

  Desk& desk_;
  KeptAnswer kept_;
  Time kept_since_{};  // the start of the time that kept_ covers
};

}  // namespace berth
