#include "sim/arrivals.h"

namespace berth {

const Submit& Arrivals::take() {
  const std::size_t job = arrived_++;
  const SimJob& from = jobs_[job];
  submit_.id = id_of(job);
  submit_.spec.needs = needs_of(from);
  submit_.spec.expected = expected_[job];
  submit_.spec.priority = from.priority;
  submit_.spec.owner = OwnerId{from.owner};
  submit_.spec.weight = from.weight;
  submit_.spec.begin = from.begin;
  return submit_;
}

}  // namespace berth
