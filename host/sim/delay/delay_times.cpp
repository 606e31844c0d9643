#include "host/sim/delay/delay_times.hpp"

namespace berth::sim {

DelayTimes times_of(const core::DelayRule& rule, std::span<const std::int64_t> most_gpus, std::int32_t rungs) {
  DelayTimes times;
  for (const std::int64_t gpus : most_gpus) {
    const core::LevelTimers& timers = rule.timers_of(gpus);
    for (std::int32_t rung = 0; rung < rungs; ++rung) times.push_back(timers.at(rung));
  }
  return times;
}

}  // namespace berth::sim
