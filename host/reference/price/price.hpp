#pragma once

#include <functional>

#include "berth/kernel/price/columns.hpp"

namespace berth::reference {

/// Runs docs/prices.md step by step. `stop` is called before each evaluation except the first; empty: never.
void price(const kernel::PriceView& problem, const kernel::PriceRequest& request, const kernel::PriceResult& result,
           const std::function<bool()>& stop = {});

}  // namespace berth::reference
