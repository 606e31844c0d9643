#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "berth/units.hpp"
#include "host/policy/base/progress_model.hpp"

namespace berth::policy {

struct OnesSettings {
  std::int32_t population = 16;
  std::int32_t theta_ppm = 300'000;  // probability of mutation
  std::int32_t generations = 0;      // 0: as many as budget and limit of iterations allow; without either one
  TimeUs epoch = 0;                  // run time that counts as one epoch where epochs are not known
  // Ours; the defaults are the rules of the authors.
  TimeUs fresh = 0;                    // run time before which a job is fresh; 0: two epochs
  bool gate_each = false;              // a job that may not change yet does not keep others from changing
  TimeUs gate = 0;                     // run time between two changes of a job; 0: an epoch
  bool shrink = true;                  // the largest job, where it has run for long
  std::int32_t waiting = 0;            // the work of a waiting job is scored as on its smallest shape, N times over; 0: not at all
  std::string gpu_type;                // empty: the type on which most jobs could run
  std::optional<ProgressModel> model;  // for jobs that report the size of their dataset; none: the estimate is used
};

}  // namespace berth::policy
