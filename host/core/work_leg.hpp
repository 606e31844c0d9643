#pragma once

#include <cstdint>

#include "berth/units.hpp"

namespace berth::core {

/// A stretch of a job's work at one rate, within a time at work that goes on from stretch to stretch.
struct WorkLeg {
  TimeUs worked = 0;       ///< time at work when it begins: the first whole microsecond at which the last one is over
  std::int64_t left = 0;   ///< work left where it begins, in millionths of a unit
  std::int64_t rate = 1;   ///< millionths of a unit per second, above 0
  std::int64_t ahead = 0;  ///< done of it by `worked`, in millionths of a millionth: it began between two microseconds
  bool operator==(const WorkLeg&) const = default;
};

/// Work left after so much time at work, not before the leg begins; rounded up.
std::int64_t left_after(const WorkLeg& leg, TimeUs worked);

/// The first microsecond at work at which no more than `left` is left, at the rate of this leg; not before it begins.
TimeUs reaches(const WorkLeg& leg, std::int64_t left);

/// The leg that begins where `left` is left. Nothing is rounded away between two legs of the same rate: they are as one.
WorkLeg next_leg(const WorkLeg& leg, std::int64_t left, std::int64_t rate);

}  // namespace berth::core
