#pragma once

#include <cstdint>

#include "berth/kernel/place/releases.hpp"

/// Which running jobs a waiting job may preempt, and in which order: docs/placement.md section 6.5.
namespace berth::kernel {

/// Whether some quota limits both jobs.
BERTH_HD inline bool share_quota(const ProblemView& p, std::int32_t a, std::int32_t b) {
  for (std::int32_t q = p.job_queue[a]; q >= 0; q = p.queue_parent[q]) {
    bool capped = false;
    for (std::int32_t t = 0; t <= p.n_types; ++t) capped = capped || p.queue_cap[std::int64_t{q} * (p.n_types + 1) + t] != kNoLimit;
    for (std::int32_t r = p.job_queue[b]; capped && r >= 0; r = p.queue_parent[r]) {
      if (r == q) return true;
    }
  }
  return false;
}

/// Running jobs that may be displaced for a job, least important first. One thread uses it.
struct VictimList {
  const ProblemView& p;
  const PlaceRequest& request;
  const std::int32_t* before;     // [n + 1] previous candidate position of each candidate; [n]: the last candidate
  const std::int32_t* node;       // [n] PlaceWorkspace::victim_node
  const std::uint8_t* displaced;  // [n] already: no candidates any more
  std::int32_t* latest;           // [n_demands] PlaceWorkspace::latest
  std::int32_t* listed;           // [n] positions found so far
  std::int32_t position;          // position of the job that is to start
  bool all;                       // false: victims that cannot make a difference are left out
  bool by_quota;                  // some option of the job has no room in its quotas
  std::int32_t last;              // position of the last one listed, n: none
  PassState* later;               // the state beside a reservation; nullptr: there is none
  Beside beside;                  // what the reservation takes there
  std::int32_t n_listed = 0;

  BERTH_HD bool eligible(std::int32_t i) const {
    if (request.class_rule != 0 && request.preemption_class[request.order[i]] >= request.preemption_class[request.order[position]]) {
      return false;
    }
    return all || matters(i);
  }
  /// A victim that holds neither an allowed node nor quota that the job lacks would return at once.
  BERTH_HD bool matters(std::int32_t i) const {
    const std::int32_t job = request.order[position];
    for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
      if (holds_in(p.demands[p.options[o].demand].filter, i)) return true;
    }
    return by_quota && share_quota(p, job, request.order[i]);
  }
  BERTH_HD bool holds_in(std::int32_t filter, std::int32_t i) const {
    if (node[i] != kNone) return in_filter(p, filter, node[i]);
    const std::int32_t victim = request.order[i];
    for (std::int32_t h = p.held_begin[victim]; h < p.held_end[victim]; ++h) {
      if (in_filter(p, filter, p.held[h].node)) return true;
    }
    return false;
  }
  /// Releases or restores until `to` victims are released, or all of them. @returns the number released.
  BERTH_HD std::int32_t change(PassState& s, std::int32_t count, std::int32_t to) {
    for (; count < to; ++count) {
      if (count == n_listed && !list_next()) break;
      release_job(p, s, request.order[listed[count]]);
      if (later != nullptr) release_beside(p, *later, beside, request.order[listed[count]]);
    }
    for (; count > to; --count) {
      hold_job(p, s, request.order[listed[count - 1]]);
      if (later != nullptr) hold_beside(p, *later, beside, request.order[listed[count - 1]]);
    }
    return count;
  }
  BERTH_HD TimeUs start(std::int32_t) const { return request.now; }

 private:
  BERTH_HD bool list_next() {
    const bool remembers = n_listed == 0 && !all && !by_quota && request.class_rule == 0;
    std::int32_t i = remembers ? start_of_list() : before[last];
    while (i > position && ((remembers && displaced[i] != 0) || !eligible(i))) i = before[i];
    if (remembers) remember(i);
    if (i <= position) return false;
    listed[n_listed++] = last = i;
    return true;
  }
  /// No candidate behind it matters. It may have left the list. Its `before` still leads to the candidates before it, some of which
  /// may have left, too.
  BERTH_HD std::int32_t start_of_list() const {
    const std::int32_t job = request.order[position];
    std::int32_t start = kNone;
    for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
      const std::int32_t known = latest[p.options[o].demand];
      start = known > start ? known : start;
    }
    return start == request.n ? before[request.n] : start;
  }
  BERTH_HD void remember(std::int32_t i) {
    const std::int32_t job = request.order[position];
    for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
      std::int32_t& known = latest[p.options[o].demand];
      known = known < i ? known : i;
    }
  }
};

}  // namespace berth::kernel
