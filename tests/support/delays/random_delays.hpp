#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/overheads.hpp"
#include "berth/snapshot.hpp"
#include "berth/trace.hpp"

/// Clusters in racks and pods, jobs whose place counts, and timers: for tests of replays with delay timers.
namespace berth::test {

struct RandomDelaySpec {
  std::int32_t jobs = 40;
  std::int32_t settings = 3;
};

struct RandomDelays {
  Trace trace;
  Snapshot cluster;
  Overheads overheads;
  std::int64_t lease_s = 3600;
  bool common = false;
  std::vector<std::int64_t> most_gpus;  ///< of classes of demands
  std::vector<std::string> timers;      ///< values of the parameter of `dally-manual`

  RandomDelays(std::uint64_t seed, const RandomDelaySpec& spec);
};

}  // namespace berth::test
