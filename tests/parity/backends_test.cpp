#include <gtest/gtest.h>

#include "host/core/backend/devices.hpp"
#include "tests/support/parity/backends.hpp"

namespace berth::test::backends_test {
namespace {

TEST(Backends, ARequiredGpuCanBeUsed) {
  if (!gpu_is_required()) GTEST_SKIP() << "BERTH_REQUIRE_GPU is not 1";
  std::string why;

  EXPECT_NE(core::make_cuda_backend(why), nullptr) << why;
}

TEST(Backends, AnAbsentGpuIsExplained) {
  std::string why;
  const auto backend = core::make_cuda_backend(why);

  EXPECT_EQ(backend == nullptr, !why.empty()) << why;
}

TEST(Backends, EveryListedDeviceIsUsableOrSaysWhyNot) {
  std::string why;
  const std::vector<core::DeviceInfo> devices = core::list_devices(why);

  EXPECT_EQ(devices.empty(), !why.empty()) << why;
  for (const core::DeviceInfo& device : devices) {
    EXPECT_FALSE(device.name.empty());
    EXPECT_GT(device.memory_bytes, 0);
    EXPECT_GT(device.major, 0);
  }
}

}  // namespace
}  // namespace berth::test::backends_test
