#include "host/core/model/work_leg.hpp"

#include <algorithm>

#include "host/core/base/wide.hpp"

namespace berth::core {
namespace {

// In millionths of a millionth of a unit.
Wide done_after(const WorkLeg& leg, TimeUs worked) { return Wide{leg.rate} * (worked - leg.worked) + leg.ahead; }
Wide whole(std::int64_t work) { return Wide{work} * kSecond; }

}  // namespace

std::int64_t left_after(const WorkLeg& leg, TimeUs worked) {
  return std::max<std::int64_t>(0, leg.left - saturate(done_after(leg, worked) / kSecond));
}

TimeUs reaches(const WorkLeg& leg, std::int64_t left) {
  const Wide lacks = whole(leg.left - left) - leg.ahead;
  return lacks <= 0 ? leg.worked : saturating_add(leg.worked, saturate(ceil_div(lacks, Wide{leg.rate})));
}

WorkLeg next_leg(const WorkLeg& leg, std::int64_t left, std::int64_t rate) {
  const TimeUs worked = reaches(leg, left);
  const Wide over = done_after(leg, worked) - whole(leg.left - left);
  return {worked, left, rate, saturate(over * rate / leg.rate)};
}

}  // namespace berth::core
