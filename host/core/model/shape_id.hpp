#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::core {

/// The default id of a shape: "8", or "8xH100" where its GPU type is given.
inline std::string default_shape_id(std::int64_t gpus, std::string_view gpu_type) {
  std::string id = std::to_string(gpus);
  if (!gpu_type.empty()) id.append("x").append(gpu_type);
  return id;
}

}  // namespace berth::core
