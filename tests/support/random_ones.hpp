#pragma once

#include <array>
#include <cstdint>

#include "tests/support/ones.hpp"

namespace berth::test {

/// The GPU counts in which jobs may run.
enum class OnesOptions {
  kEvery,   // 1, 2, 3, ..: as in the artifact
  kPowers,  // 1, 2, 4, .., or some of these from a later one on
  kSingle,  // one count
  kSome,    // any
  kMixed,   // a random kind for each job
};
inline constexpr std::array kOnesOptions{OnesOptions::kEvery, OnesOptions::kPowers, OnesOptions::kSingle, OnesOptions::kSome,
                                         OnesOptions::kMixed};
const char* to_string(OnesOptions options);

struct RandomOnesSpec {
  std::int32_t n_gpus = 24;
  std::int32_t jobs = 12;
  std::int32_t population = 3;
  std::int32_t theta_ppm = 300'000;
  std::int64_t waiting = 0;
  OnesOptions options = OnesOptions::kMixed;
  std::int32_t most_gpus = 64;          // maximum of an option
  std::int32_t fresh_percent = 20;      // jobs
  std::int32_t falling_percent = 15;    // jobs that are slower on more GPUs
  std::int32_t identical_percent = 15;  // jobs identical to an earlier one
  std::int32_t extreme_percent = 10;    // extreme work, rates and quantiles
  std::int32_t deployed_percent = 70;   // jobs
  std::int32_t gap_percent = 20;        // before a deployed block
  std::int32_t odd_percent = 20;        // deployed counts that are not options
};

/// A pure function of its arguments.
OnesProblem random_ones(std::uint64_t seed, const RandomOnesSpec& spec = {});

/// Disjoint blocks of options, which may exceed the limits.
TestOnesPopulation random_population(std::uint64_t seed, const OnesProblem& problem);

}  // namespace berth::test
