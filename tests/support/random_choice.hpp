#pragma once

#include <array>
#include <cstdint>

#include "tests/support/choice.hpp"

namespace berth::test {

/// Kinds of values of a job.
enum class ChoiceKind {
  kConcave,    // diminishing returns on 1, 2, 4, ... GPUs of each type
  kGang,       // one number of GPUs, on several types
  kJagged,     // any value for any number of GPUs
  kFewValues,  // quarters of the greatest value for 1, 2 or 4 GPUs: ties everywhere
  kMixed,      // a random kind for each job
};
inline constexpr std::array kChoiceKinds{ChoiceKind::kConcave, ChoiceKind::kGang, ChoiceKind::kJagged, ChoiceKind::kFewValues,
                                         ChoiceKind::kMixed};
const char* to_string(ChoiceKind kind);

struct RandomChoiceSpec {
  std::int32_t jobs = 24;
  std::int32_t types = 3;
  ChoiceKind kind = ChoiceKind::kMixed;
  std::int32_t max_gpus = 32;
  std::int64_t max_value = 1'000'000;
  std::int32_t load_percent = 300;      // sum of the largest options of all jobs, relative to all GPUs
  std::int32_t identical_percent = 10;  // jobs identical to an earlier one
  std::int32_t negative_percent = 5;    // options
  std::int32_t oversize_percent = 3;    // options that exceed the capacity
  std::int32_t empty_percent = 3;       // types without GPUs, jobs without options
};

/// A pure function of its arguments.
ChoiceProblem random_choice(std::uint64_t seed, const RandomChoiceSpec& spec = {});

}  // namespace berth::test
