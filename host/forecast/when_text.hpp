#pragma once

#include <string>

#include "berth/forecast.hpp"
#include "host/core/base/name_source.hpp"

namespace berth::report {

/// A table with a row for each job, and what it rests on.
/// @param most_rows  0: all
std::string when_text(const core::NameSource& names, const Forecast& forecast, std::size_t most_rows);
/// One job in sentences.
std::string when_job_text(const core::NameSource& names, const Forecast& forecast, const JobForecast& job);

}  // namespace berth::report
