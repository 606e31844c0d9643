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

/// sum + the product of four bytes with four others, all signed. Addresses are multiples of 4.
#if defined(__CUDA_ARCH__)
#define BERTH_DOT4(a, b, sum) __dp4a(*reinterpret_cast<const int*>(a), *reinterpret_cast<const int*>(b), (sum))
#else
#define BERTH_DOT4(a, b, sum) ((sum) + (a)[0] * (b)[0] + (a)[1] * (b)[1] + (a)[2] * (b)[2] + (a)[3] * (b)[3])
#endif
