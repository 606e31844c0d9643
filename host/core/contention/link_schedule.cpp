#include "host/core/contention/link_schedule.hpp"

#include <algorithm>
#include <cassert>
#include <tuple>

namespace berth::core {
namespace {

struct LinkJobState {
  std::int64_t start = 0;  // of its iteration
  std::int64_t left = 0;   // to send
};

}  // namespace

std::vector<LinkTime> link_schedule(std::span<const LinkJob> gangs, std::span<const std::int32_t> level, std::int64_t window_ns) {
  std::vector<LinkTime> times(gangs.size());
  std::vector<LinkJobState> states;
  for (const LinkJob& gang : gangs) {
    assert(gang.send_ns > 0);
    states.push_back({0, gang.send_ns});
  }
  for (std::int64_t now = 0; now < window_ns;) {
    std::size_t served = gangs.size();
    std::int64_t next = window_ns;
    const auto rank = [&](std::size_t j) { return std::tuple(level[j], states[j].start + gangs[j].begin_ns, j); };
    for (std::size_t j = 0; j < gangs.size(); ++j) {
      for (const std::int64_t at : {states[j].start + gangs[j].begin_ns, states[j].start + gangs[j].compute_ns})
        if (at > now) next = std::min(next, at);
      const bool is_ready = states[j].left > 0 && states[j].start + gangs[j].begin_ns <= now;
      if (is_ready && (served == gangs.size() || rank(j) < rank(served))) served = j;
    }
    if (served < gangs.size()) next = std::min(next, now + states[served].left);
    for (std::size_t j = 0; j < gangs.size(); ++j)
      if (states[j].start + gangs[j].compute_ns <= now) times[j].idle_ns += next - now;
    if (served < gangs.size()) {
      states[served].left -= next - now;
      times[served].sent_ns += next - now;
    }
    now = next;
    for (std::size_t j = 0; j < gangs.size(); ++j)
      if (states[j].left == 0 && states[j].start + gangs[j].compute_ns <= now) states[j] = {now, gangs[j].send_ns};
  }
  return times;
}

}  // namespace berth::core
