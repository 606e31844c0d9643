#pragma once

#include "berth/units.hpp"

namespace berth::core {

/// When a job ends that runs from an instant on; kNever: not known, or beyond all time.
inline TimeUs end_of(TimeUs start, TimeUs run) { return run == kNever || run > kNever - 1 - start ? kNever : start + run; }

}  // namespace berth::core
