#pragma once

#include <cstdint>

namespace berth::report {

/// The 97.5 % quantile of Student's t distribution, for intervals that have the true mean in 95 of 100 cases. Infinite below one degree
/// of freedom. Only reports use it.
double student_975(std::int64_t degrees);

}  // namespace berth::report
