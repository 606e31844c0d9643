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
