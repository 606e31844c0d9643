#include "host/backend/cuda_abi.hpp"

/// A libberth_cuda of another build. Its functions must not be called.
extern "C" __attribute__((visibility("default"))) const berth::cuda_abi::Table* berth_cuda_table() {
  static constexpr berth::cuda_abi::Table kTable{"0.0.0-other", nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                                 nullptr,       nullptr, nullptr, nullptr, nullptr, nullptr};
  return &kTable;
}
