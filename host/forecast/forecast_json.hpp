#pragma once

#include <string>

#include "berth/forecast.hpp"

namespace berth::io {

/// A `berth.when.v1` document.
std::string to_json(const Forecast& forecast);
std::string forecast_schema();

}  // namespace berth::io
