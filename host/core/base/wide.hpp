#pragma once

#include "berth/kernel/base/wide.hpp"

namespace berth::core {

using kernel::ceil_div;
using kernel::floor_div;
using kernel::mul_div;
using kernel::saturate;
using kernel::saturating_add;
using kernel::saturating_mul;
using kernel::UnsignedWide;
using kernel::Wide;

}  // namespace berth::core
