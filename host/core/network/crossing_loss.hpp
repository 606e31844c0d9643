#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "host/core/network/empty_places.hpp"
#include "host/core/network/gang_steps.hpp"
#include "host/core/network/links.hpp"
#include "host/core/network/traffic.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// What a gang loses outside the tightest domain that could hold it.
struct Crossing {
  std::int32_t level = -1;    ///< of the switch topology, 0: the node; -1: it loses less than 0.1 %, or nothing is known
  std::int64_t loss_ppm = 0;  ///< time of a step divided over two such domains, over that inside one, less 1; in millionths
  bool operator==(const Crossing&) const = default;
};

/// Finds the crossing of each option of a job, from the traffic of its gang in two places of an empty cluster: inside the
/// roomiest domain of the level, and half in each of two. In both, every link carries as much for each of the GPUs behind it
/// as this gang sends: a gang has the part of a link that its GPUs are of those (docs/traffic.md, "Waiting for a place").
///
/// Answers are kept while descriptions stay.
class CrossingLoss {
 public:
  /// Before `of` in this state.
  void begin(const StateImpl& state);
  /// O(1), but for a demand that is new as EmptyPlaces, and for a job that is new O(nodes of the gang).
  /// @param option  of the job
  const Crossing& of(const StateImpl& state, std::int32_t job, std::int32_t option);

 private:
  struct Places {
    bool known = false;
    TwoPlaces two;
  };
  struct Known {
    std::uint64_t version = 0;  // of the job's record
    std::vector<Crossing> options;
  };
  const TwoPlaces& places_of(const StateImpl& state, std::int32_t demand);
  std::int64_t step_in(const StateImpl& state, const Job& job, std::int32_t shape, std::span<const PlanEntry> entries);

  std::weak_ptr<const int> served_;
  std::uint64_t structure_ = 0;  // of the state that answers belong to
  std::unique_ptr<NetworkLinks> links_;
  std::unique_ptr<Traffic> traffic_;
  std::vector<std::int64_t> gpus_behind_;  // [links]
  std::vector<Places> places_;             // [demands]
  std::vector<Known> known_;               // [jobs]
  Crossing none_;
  EmptyPlaces empty_;
  std::vector<std::int64_t> held_by_;  // [links] GPUs of the gang behind it
};

}  // namespace berth::core
