#pragma once

/// The only thing in portable headers that may depend on the compiler.
#if defined(__CUDACC__)
#define BERTH_HD __host__ __device__
/// Keeps one copy of a large device function instead of one at every call; says nothing to the host compiler.
#define BERTH_NOINLINE __noinline__
#else
#define BERTH_HD
#define BERTH_NOINLINE
#endif

/// Asks a CPU for what will be read soon, where rows lie in another order than they are visited. A GPU hides that by itself.
#if defined(__CUDA_ARCH__) || !defined(__GNUC__)
#define BERTH_PREFETCH(address) static_cast<void>(address)
#else
#define BERTH_PREFETCH(address) __builtin_prefetch(address)
#endif
