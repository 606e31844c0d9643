#pragma once

#include <cstdint>
#include <vector>

#include "berth/kernel/price/columns.hpp"

namespace berth::core {

/// The view of a choice over columns owned by the caller. @param option_begin  [jobs + 1], never empty
inline kernel::PriceView shape_view(const std::vector<std::int64_t>& capacity, const std::vector<std::int32_t>& option_begin,
                                    const std::vector<std::int32_t>& type, const std::vector<std::int32_t>& gpus,
                                    const std::vector<std::int64_t>& value) {
  return {static_cast<std::int32_t>(option_begin.size()) - 1,
          static_cast<std::int32_t>(capacity.size()),
          capacity.data(),
          option_begin.data(),
          type.data(),
          gpus.data(),
          value.data()};
}

}  // namespace berth::core
