#pragma once

#include <cstdint>

#include "berth/units.hpp"

namespace berth::core {

/// A stretch of a job's work at one rate. Time at work continues from one stretch to the next.
struct WorkLeg {
  TimeUs worked = 0;       ///< time at work at its begin: the first whole microsecond after the previous stretch
  std::int64_t left = 0;   ///< work left at its begin, in millionths of a unit
  std::int64_t rate = 1;   ///< millionths of a unit per second, above 0
  std::int64_t ahead = 0;  ///< work already done by `worked`, in millionths of a millionth: the stretch began between two microseconds
  bool operator==(const WorkLeg&) const = default;
};

/// Work left at a time at work, not before the leg begins; rounded up.
std::int64_t left_after(const WorkLeg& leg, TimeUs worked);

/// The first microsecond at work with at most `left` work left, at the rate of this leg; not before it begins.
TimeUs reaches(const WorkLeg& leg, std::int64_t left);

/// The leg that begins with `left` work left. Two legs of the same rate equal one leg: nothing is lost by rounding.
WorkLeg next_leg(const WorkLeg& leg, std::int64_t left, std::int64_t rate);

}  // namespace berth::core
