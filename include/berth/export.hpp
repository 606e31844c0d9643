#pragma once

/// Marks what the shared library exports; every other symbol is hidden.
#if defined(__GNUC__) && !defined(BERTH_STATIC)
#define BERTH_API __attribute__((visibility("default")))
#else
#define BERTH_API
#endif
