#pragma once

#include <cstdint>

namespace berth::bench {

/// Bytes of this process that are in memory (VmRSS of /proc/self/status), after freed memory went back to the system. 0: not known.
std::int64_t resident_bytes();

}  // namespace berth::bench
