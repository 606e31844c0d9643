#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "host/core/choice/locality.hpp"

namespace berth::core {

/// Where options are as fast as they can be (docs/prices.md, section 6). What is known of a job is kept until the job or the
/// cluster changes.
class TightPlaces {
 public:
  struct Option {
    std::int32_t demand;       // of the option, only in its tight places; as it is where it is nowhere slower
    std::int64_t rate_beyond;  // in the next wider places, with the slowest links there
  };

  void begin(const StateImpl& state);
  /// After `begin` with the state. O(levels) where the option is not known, else O(1).
  const Option& of(const StateImpl& state, std::int32_t job, std::int32_t option);

 private:
  struct OfJob {
    std::uint64_t version = 0;  // of the job's record
    std::vector<Option> options;
  };
  Option find(const StateImpl& state, std::int32_t job, std::int32_t option) const;

  std::weak_ptr<const int> served_;  // the state, by its identity
  std::uint64_t structure_ = 0;      // of the cluster
  Locality locality_;
  std::vector<OfJob> jobs_;  // [jobs of the state]
};

}  // namespace berth::core
