#pragma once

#include <cstdint>

#include "berth/kernel/base/host_device.hpp"

namespace berth::kernel {

/// The k jobs of the largest values, descending, kept in the caller's columns. Among equal values the first offered comes first.
struct ContendTop {
  std::int32_t* value;  // [k]
  std::int32_t* job;    // [k]
  std::int32_t k, n;

  /// A job is kept when its value is greater. At least 0, so that values of 0 are not kept.
  BERTH_HD std::int32_t bar() const { return n < k ? 0 : value[k - 1]; }
  /// @param v  Greater than `bar()`, where k > 0.
  BERTH_HD void add(std::int32_t v, std::int32_t j) {
    std::int32_t at = n < k ? n++ : k - 1;
    for (; at > 0 && value[at - 1] < v; --at) {
      value[at] = value[at - 1];
      job[at] = job[at - 1];
    }
    value[at] = v;
    job[at] = j;
  }
  /// Fills the rest with "none".
  BERTH_HD void finish() const {
    for (std::int32_t i = n; i < k; ++i) {
      value[i] = 0;
      job[i] = -1;
    }
  }
};

}  // namespace berth::kernel
