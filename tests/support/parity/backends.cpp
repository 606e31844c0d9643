#include "tests/support/parity/backends.hpp"

#include <algorithm>
#include <cstdlib>

#include "built_backends.hpp"

namespace berth::test {

std::vector<std::string> built_backends() { return {std::begin(kBuiltBackends), std::end(kBuiltBackends)}; }

std::unique_ptr<core::PlacementBackend> make_backend(const std::string& name, std::string& why) {
  if (name == "cuda") return core::make_cuda_backend(why);
  return core::make_cpu_backend(std::atoi(name.c_str() + 3));
}

bool gpu_is_required() {
#ifdef BERTH_GPU_IS_REQUIRED
  return true;
#endif
  const char* value = std::getenv("BERTH_REQUIRE_GPU");
  return value != nullptr && std::string(value) == "1";
}

void OnBackend::SetUp() {
  std::string why;
  backend_ = make_backend(GetParam(), why);
  if (backend_ != nullptr) return;
  if (gpu_is_required()) {
    FAIL() << GetParam() << " is required here and cannot be used: " << why;
  }
  GTEST_SKIP() << GetParam() << " is built and cannot be used here: " << why;
}

}  // namespace berth::test
