#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/error.hpp"
#include "host/backend/cuda_abi.hpp"

namespace berth::core {

/// A GPU failure during work: a launch, a transfer, memory. The work can be done on the CPU instead.
class DeviceError : public EnvironmentError {
 public:
  explicit DeviceError(const std::string& text, bool short_memory = false) : EnvironmentError(text), short_memory_(short_memory) {}
  /// Only memory was short: other work, or the same work later, may succeed.
  bool short_memory() const { return short_memory_; }

 private:
  bool short_memory_;
};

/// One GPU that the driver shows.
struct DeviceInfo {
  std::int32_t index = 0;  ///< in the driver's order
  std::string name, uuid;
  std::int32_t major = 0, minor = 0;  ///< compute capability
  std::int32_t multiprocessors = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t memory_bytes_per_s = 0;    ///< at most; 0: not stated
  std::int64_t clock_hz = 0;              ///< at most; 0: not stated
  std::string driver_cuda, runtime_cuda;  ///< newest CUDA version of the driver, CUDA version of this build: "13.0"
  std::string why_not;                    ///< empty: Berth can use it
};

/// All GPUs, in the driver's order; usable or not. Empty with the cause in `why` when there are none.
/// @param short_memory  out, may be null: whether they could not be listed for want of memory
std::vector<DeviceInfo> list_devices(std::string& why, bool* short_memory = nullptr);

/// As text for users: "1 (NVIDIA H200, GPU-01234567-89ab-cdef-0123-456789abcdef)".
std::string device_label(const DeviceInfo& device);

/// Those of the devices that `wanted` names, an index or a UUID; all where it is empty.
/// @throws InvalidArgument for what none of the devices is, with what there is
std::vector<DeviceInfo> chosen_devices(const std::vector<DeviceInfo>& devices, const std::string& wanted);

/// Whether this process was forked from one that had used CUDA: a driver does not work there.
bool forked_from_cuda();
inline constexpr const char* kForked = "this process was forked from one that used the GPU, and CUDA does not work after a fork";

/// The table of libberth_cuda, loaded at the first call and kept; null with the cause in `why`.
const cuda_abi::Table* cuda_table(std::string& why);

}  // namespace berth::core
