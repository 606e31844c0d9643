#pragma once

/// The only code in portable headers that depends on the compiler.
#if defined(__CUDACC__)
#define BERTH_HD __host__ __device__
/// Keeps one copy of a large device function instead of one per call. No effect on the host compiler.
#define BERTH_NOINLINE __noinline__
#else
#define BERTH_HD
#define BERTH_NOINLINE
#endif

/// Prefetches rows that are stored in another order than they are visited. A GPU hides that latency itself.
#if defined(__CUDA_ARCH__) || !defined(__GNUC__)
#define BERTH_PREFETCH(address) static_cast<void>(address)
#else
#define BERTH_PREFETCH(address) __builtin_prefetch(address)
#endif
