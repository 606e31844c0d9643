#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "host/policy/base/progress_model.hpp"

namespace berth::fit {

/// The file berth.predictor.v1: docs/formats/predictor.md.
struct Predictor {
  policy::ProgressModel model;
  std::int64_t rows = 0, jobs = 0;  // that it was fitted to
  bool operator==(const Predictor&) const = default;
};

/// @throws InputError with line and pointer.
Predictor parse_predictor(std::string_view json, const std::string& name);
std::string to_json(const Predictor& predictor);
std::string predictor_schema();

}  // namespace berth::fit
