#include "host/reference/place/availability.hpp"

#include <algorithm>

namespace berth::reference {
namespace {

using kernel::ProblemView;

// For each GPU what is used of it: all of it where it is neither free nor shared.
std::vector<std::int32_t> used_parts(const ProblemView& p, const State& s) {
  std::vector<std::int32_t> used = s.used_ppm;
  for (std::int32_t n = 0; n < p.n_nodes; ++n) {
    for (std::int32_t row = p.gpu_begin[n]; row < p.gpu_begin[n + 1]; ++row) {
      const bool free = (s.free[static_cast<std::size_t>(n)] >> (row - p.gpu_begin[n]) & 1) != 0;
      if (!free && s.used_ppm[static_cast<std::size_t>(row)] == 0) used[static_cast<std::size_t>(row)] = kWholeGpu;
    }
  }
  return used;
}

void lower_to(const ProblemView& p, State& least, const State& s) {
  const std::vector<std::int32_t> used = used_parts(p, s);
  for (std::size_t n = 0; n < s.free.size(); ++n) {
    least.free[n] &= s.free[n];
    least.cpu[n] = std::min(least.cpu[n], s.cpu[n]);
    least.memory[n] = std::min(least.memory[n], s.memory[n]);
  }
  for (std::size_t g = 0; g < used.size(); ++g) {
    least.used_ppm[g] = std::max(least.used_ppm[g], used[g]);
    least.used_memory[g] = std::max(least.used_memory[g], s.used_memory[g]);
  }
}

// What a reservation gives back is what it took, also where a job that ends would leave GPUs behind.
void give_back(const ProblemView& p, State& s, const Piece& piece) {
  give(p, s, piece);
  for (std::int32_t g = 0; g < 64; ++g) {
    if ((piece.mask >> g & 1) == 0) continue;
    const bool shared = piece.share_ppm != kWholeGpu && s.used_ppm[static_cast<std::size_t>(p.gpu_begin[piece.node] + g)] > 0;
    if (!shared) s.free[static_cast<std::size_t>(piece.node)] |= std::uint64_t{1} << g;
  }
}

}  // namespace

Availability::Availability(const ProblemView& p, TimeUs at_now, const State& now, const std::vector<TimedRelease>& events,
                           const std::vector<Reserved>& reserved)
    : p_(p), now_(now) {
  for (const TimedRelease& event : events) instants_[std::max(event.at, at_now)].released.push_back(&event);
  for (const Reserved& one : reserved) {
    if (one.from == one.to) continue;
    instants_[one.from].begins.push_back(&one);
    if (one.to != kNever) instants_[one.to].ends.push_back(&one);
  }
}

std::vector<TimeUs> Availability::releases() const {
  std::vector<TimeUs> starts;
  for (const auto& [at, instant] : instants_) {
    if (!instant.released.empty() || !instant.ends.empty()) starts.push_back(at);
  }
  return starts;
}

void Availability::pass(State& s, const Instant& instant) const {
  const auto each_piece = [&](const Reserved& one, void (*change)(const ProblemView&, State&, const Piece&)) {
    for (const kernel::PlacedRow& row : one.entries) change(p_, s, piece_of(p_.groups[one.demand->group_begin + row.group], row));
  };
  for (const TimedRelease* event : instant.released) happen(p_, s, *event);
  for (const Reserved* one : instant.ends) {
    each_piece(*one, give_back);
    charge_quota(p_, s, p_.job_queue[one->job], one->demand->gpu_type, -one->demand->quota);
  }
  for (const Reserved* one : instant.begins) {
    each_piece(*one, take);
    charge_quota(p_, s, p_.job_queue[one->job], one->demand->gpu_type, one->demand->quota);
  }
}

void Availability::each_state(std::optional<TimeUs> start, TimeUs end, const std::function<void(const State&)>& visit) const {
  State s = now_;
  auto next = instants_.begin();
  for (; start && next != instants_.end() && next->first <= *start; ++next) pass(s, next->second);
  visit(s);
  for (; next != instants_.end() && next->first < end; ++next) {
    pass(s, next->second);
    visit(s);
  }
}

State Availability::window(std::optional<TimeUs> start, TimeUs end) const {
  std::optional<State> least;
  each_state(start, end, [&](const State& s) {
    if (!least) least = s;
    lower_to(p_, *least, s);
  });
  return *least;
}

bool Availability::has_quota(std::optional<TimeUs> start, TimeUs end, std::int32_t queue, const kernel::DemandRow& demand) const {
  bool passes = true;
  each_state(start, end, [&](const State& s) { passes = passes && quota_passes(p_, s, queue, demand.gpu_type, demand.quota); });
  return passes;
}

}  // namespace berth::reference
