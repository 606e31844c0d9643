#pragma once

#include <string>
#include <vector>

#include "host/fit/step_fit.hpp"

namespace berth::fit {

/// Reads measured steps: CSV, plain or gzip. Columns, in any order: `step_s` or `step_time` (seconds), `gpus` and `nodes`, or
/// `placement` (GPUs of each node as digits, "44"); and where they are known `batch` or `local_bsz` (samples on one GPU), `gpu_type`,
/// `cores` (for each GPU), `co_runner`. Others are ignored.
/// @throws InputError naming file, line and column
std::vector<StepMeasurement> read_steps(const std::string& path);

}  // namespace berth::fit
