#include "bench/support/memory.hpp"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <fstream>
#include <string>

namespace berth::bench {

std::int64_t resident_bytes() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    std::int64_t kib = 0;
    if (word == "VmRSS:" && status >> kib) return kib * 1024;
  }
  return 0;
}

}  // namespace berth::bench
