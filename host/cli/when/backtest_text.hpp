#pragma once

#include <string>

#include "host/forecast/backtest.hpp"

namespace berth::cli {

/// The table of coverages, and the levels that were learned.
std::string backtest_text(const sim::Backtest& backtest, const sim::BacktestSettings& settings);

}  // namespace berth::cli
