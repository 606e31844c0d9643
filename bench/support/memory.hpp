#pragma once

#include <cstdint>

namespace berth::bench {

/// Resident bytes of this process (VmRSS of /proc/self/status), after freed memory was returned to the system. 0: not
/// known.
std::int64_t resident_bytes();

}  // namespace berth::bench
