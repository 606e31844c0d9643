#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "berth/engine.hpp"
#include "berth/kernel/base/problem.hpp"
#include "berth/plan.hpp"
#include "host/core/network/crossing_loss.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// `packing=contention`: gangs that lose speed outside a domain wait for room in one (docs/traffic.md, "Waiting for a
/// place"). A gang waits from the first decision in which it could have started elsewhere, and no longer than the time that
/// it would lose there. Memory is kept between decisions.
class ContentionWaits {
 public:
  /// Before a pass: demands of gangs that still wait for a domain are narrowed to its level.
  /// @param kept     null: no gang has waited yet
  /// @param options  [options of the problem] those of such gangs are changed in place
  void narrow(const StateImpl& state, const PolicyState* kept, std::span<kernel::OptionRow> options);
  /// After the pass: since when gangs wait. The GPUs that are free or may be displaced for at their turn decide, wherever
  /// they are. O(jobs + nodes), and the classes of victims for each gang that waits.
  void look(const StateImpl& state, const kernel::ProblemView& problem, const kernel::PlaceRequest& request,
            const kernel::PlaceResult& placed);
  /// When the first gang stops waiting; kNever: none does. After `look`.
  TimeUs until() const { return until_; }
  /// Plans say until when a gang waits. After `look`.
  void say_until(Plan& plan) const;
  /// Since when gangs wait, for the next `narrow`.
  void store(const StateImpl& state, PolicyState& kept) const;

 private:
  TimeUs most_wait(const StateImpl& state, std::int32_t job, std::int64_t loss_ppm) const;
  void count_free(const StateImpl& state, const kernel::ProblemView& problem, const kernel::PlaceRequest& request,
                  const kernel::PlaceResult& placed);
  static void count_held(const kernel::ProblemView& problem, std::int32_t job, std::int64_t sign, std::vector<std::int64_t>& gpus);
  static bool is_victim(const kernel::PlaceRequest& request, const kernel::PlaceResult& placed, std::int32_t i);
  std::vector<std::int64_t>& victims_of(const kernel::ProblemView& problem, const kernel::PlaceRequest& request, std::int32_t job);
  bool lacks_domain(const Decision& decision) const;
  bool could_start(const kernel::ProblemView& problem, const kernel::PlaceRequest& request, std::int32_t job) const;

  CrossingLoss crossings_;
  std::vector<TimeUs> since_;                                  // [jobs] kNever: could not have started yet
  std::vector<TimeUs> most_;                                   // [jobs] wait of the option that waits least; -1: none is narrowed
  std::vector<std::uint32_t> levels_;                          // [jobs] bits of the levels to which options are narrowed
  std::vector<std::int64_t> free_;                             // [GPU types] at a position of the pass
  std::map<std::int32_t, std::vector<std::int64_t>> victims_;  // by class: [GPU types] of those behind that position
  std::vector<std::uint8_t> stays_;                            // [jobs]
  TimeUs until_ = kNever;
};

}  // namespace berth::core
