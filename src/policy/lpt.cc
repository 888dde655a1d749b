// Longest processing time first: long jobs early, so that short ones fill the gaps at the end. Good
// for the makespan of a known batch, bad for waiting times.
#include "policy/in_order.h"

namespace berth {

const Order kLptOrder{"lpt", [](const Job& job, const Needs&, Duration) -> Rank {
                        return -job.expected_left().count();
                      }};

}  // namespace berth
