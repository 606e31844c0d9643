#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "berth/plan.hpp"

/// Shared by tables and documents that compare plans.
namespace berth::report {

struct Total {
  const char* name;
  std::int64_t Totals::*field;
};
inline constexpr std::array kTotals{
    Total{"gpus_used", &Totals::gpus_used}, Total{"starts", &Totals::starts},     Total{"keeps", &Totals::keeps},
    Total{"moves", &Totals::moves},         Total{"replaces", &Totals::replaces}, Total{"reserves", &Totals::reserves},
    Total{"preempts", &Totals::preempts},   Total{"waits", &Totals::waits},       Total{"rejects", &Totals::rejects}};

/// With its quotation marks.
std::string json_string(std::string_view text);

/// {"policy":...,"gpus_used":...,
std::string plan_json(const Plan& plan);

}  // namespace berth::report
