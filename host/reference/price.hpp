#pragma once

#include <functional>

#include "berth/kernel/choice.hpp"

namespace berth::reference {

/// docs/prices.md, step by step. `stop` is asked before each evaluation but the first; empty: never.
void choose_by_price(const kernel::ChoiceView& problem, const kernel::ChoiceRequest& request, const kernel::ChoiceResult& result,
                     const std::function<bool()>& stop = {});

}  // namespace berth::reference
