#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "berth/units.hpp"
#include "host/policy/base/progress_model.hpp"

namespace berth::policy {

struct OnesSettings {
  std::int32_t population = 16;
  std::int32_t theta_ppm = 300'000;    // probability of mutation
  std::int32_t generations = 0;        // 0: as many as budget and limit of iterations allow; without either one
  TimeUs epoch = 0;                    // run time that counts as one epoch where epochs are not known
  std::string gpu_type;                // empty: the type on which most jobs could run
  std::optional<ProgressModel> model;  // for jobs that report the size of their dataset; none: the estimate is used
};

}  // namespace berth::policy
