#pragma once

#include <cstddef>

/// What the sanitizers must be told of fibers, barriers and memory; nothing where none is on.
/// g++ and clang say differently which one is on. CMake sets BERTH_THREAD_SANITIZER, because the files that need it are
/// themselves compiled without.
#if defined(__SANITIZE_ADDRESS__)
#define BERTH_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BERTH_ADDRESS_SANITIZER 1
#endif
#endif
#ifdef BERTH_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef BERTH_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
// Declared here too, because the header of g++ 12 lacks them.
extern "C" {
void* __tsan_get_current_fiber(void);
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

namespace berth::test {

/// What others did before they released `of` is over for the caller.
inline void acquire([[maybe_unused]] void* of) {
#ifdef BERTH_THREAD_SANITIZER
  __tsan_acquire(of);
#endif
}
inline void release([[maybe_unused]] void* of) {
#ifdef BERTH_THREAD_SANITIZER
  __tsan_release(of);
#endif
}

/// From now on an access is an error, and not any more.
inline void poison([[maybe_unused]] const void* data, [[maybe_unused]] std::size_t bytes) {
#ifdef BERTH_ADDRESS_SANITIZER
  __asan_poison_memory_region(data, bytes);
#endif
}
inline void unpoison([[maybe_unused]] const void* data, [[maybe_unused]] std::size_t bytes) {
#ifdef BERTH_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(data, bytes);
#endif
}

}  // namespace berth::test
