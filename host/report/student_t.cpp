#include "host/report/student_t.hpp"

#include <array>
#include <cmath>
#include <cstddef>

namespace berth::report {

double student_975(std::int64_t degrees) {
  constexpr std::array<double, 30> kFew{12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004,
                                        2.262157,  2.228139, 2.200985, 2.178813, 2.160369, 2.144787, 2.131450, 2.119905,
                                        2.109816,  2.100922, 2.093024, 2.085963, 2.079614, 2.073873, 2.068658, 2.063899,
                                        2.059539,  2.055529, 2.051831, 2.048407, 2.045230, 2.042272};
  if (degrees < 1) return INFINITY;
  if (degrees <= static_cast<std::int64_t>(kFew.size())) return kFew[static_cast<std::size_t>(degrees - 1)];
  // The expansion of Cornish and Fisher around the normal quantile (Abramowitz and Stegun 26.7.5); its error is below 10^-6 here.
  constexpr double kZ = 1.959963985, kZ2 = kZ * kZ;
  const double v = static_cast<double>(degrees);
  const double first = kZ * (kZ2 + 1) / 4, second = kZ * ((5 * kZ2 + 16) * kZ2 + 3) / 96;
  const double third = kZ * (((3 * kZ2 + 19) * kZ2 + 17) * kZ2 - 15) / 384;
  return kZ + (first + (second + third / v) / v) / v;
}

}  // namespace berth::report
