#pragma once

#include "berth/trace.hpp"

namespace berth::bench {

/// The 125,303 GPU jobs of Helios' Venus. Where the trace is absent (BERTH_TRACES), synthetic jobs replace it.
const Trace& venus();

}  // namespace berth::bench
