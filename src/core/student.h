// Student's t: how far beyond its middle a value may lie when its spread is known from few others.
#pragma once

namespace berth {

/// The value that a t variable with this many degrees of freedom passes with probability `risk`.
/// `risk` is between 0 and a half, `freedom` at least 1.
double student_upper(double risk, int freedom);

}  // namespace berth
