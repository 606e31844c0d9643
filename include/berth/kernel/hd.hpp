#pragma once

/// The only thing in portable headers that may depend on the compiler.
#if defined(__CUDACC__)
#define BERTH_HD __host__ __device__
#else
#define BERTH_HD
#endif
