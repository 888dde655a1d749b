// Shortest job first, by what is expected. Jobs of unknown length come last.
#include "policy/in_order.h"

namespace berth {

const Order kSjfOrder{"sjf", [](const Job& job, const Needs&, Duration) -> Rank {
                        return job.expected_left().count();
                      }};

}  // namespace berth
