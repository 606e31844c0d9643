#include <gtest/gtest.h>

#include <string>

#include "host/core/backend/backends.hpp"
#include "host/core/backend/devices.hpp"
#include "tests/cuda_on_threads/operations.hpp"
#include "tests/cuda_on_threads/stand_in.hpp"

/// Machines without a driver, with an old one, without a GPU that can be used, and with several.
namespace berth::cuda_on_threads {
namespace {

/// The cause that a decision gives for not using the GPU. Its answer is the reference's.
std::string note_on(const Settings& settings) {
  set(settings);
  core::Backends backends;
  std::string note;
  for (int i = 0; i < 5; ++i) {
    EXPECT_STREQ(
        backends.run(Backend::kCuda, 1, note, [](core::PlacementBackend& one) { EXPECT_EQ(operations().front().difference(one), ""); }),
        "cpu");
    EXPECT_NE(note, "");
  }
  return note;
}

TEST(Machine, WithoutADriverSaysSo) {
  Settings settings;
  settings.driver = 0;
  EXPECT_EQ(note_on(settings), "no NVIDIA driver is installed; CUDA 13.0 needs one");
}

TEST(Machine, WithAnOldDriverSaysWhichOneIsNeeded) {
  Settings settings;
  settings.driver = 12040;
  EXPECT_EQ(note_on(settings), "the driver knows CUDA 12.4 at most; this build needs CUDA 13.0");
}

TEST(Machine, WithoutADeviceSaysSo) {
  Settings settings;
  settings.devices = 0;
  EXPECT_EQ(note_on(settings), "the driver (CUDA 13.0) shows no GPU");
}

TEST(Machine, WithADeviceThatThisBuildHasNoCodeForSaysWhichThereIs) {
  Settings settings;
  settings.capability = 70;
  EXPECT_EQ(note_on(settings),
            "threads of the host, 0: this build has no code for compute capability 7.0, only sm_80, sm_90a, sm_100, compute_120");
}

/// The build has sm_80, sm_90a, sm_100 and compute_120.
TEST(Machine, ListsADeviceAsUsableOnlyWhereTheBuildHasCodeForIt) {
  std::string usable;
  for (const int capability : {75, 80, 86, 89, 90, 100, 103, 110, 120, 121, 130}) {
    Settings settings;
    settings.capability = capability;
    set(settings);
    std::string why;
    const std::vector<core::DeviceInfo> devices = core::list_devices(why);
    ASSERT_EQ(devices.size(), 1U) << why;
    if (devices[0].why_not.empty()) usable += std::to_string(capability) + " ";
  }
  EXPECT_EQ(usable, "80 86 89 90 100 103 120 121 130 ");
  set({});
}

TEST(Machine, WithSeveralDevicesUsesOneAndListsTheOthersWithoutAContext) {
  Settings settings;
  settings.devices = 4;
  set(settings);
  std::string why;
  EXPECT_EQ(core::list_devices(why).size(), 4U) << why;
  for (const std::int64_t context : counts().contexts) EXPECT_EQ(context, 0);

  core::Backends backends;
  std::string note;
  EXPECT_STREQ(backends.run(Backend::kCuda, 1, note, [](core::PlacementBackend&) {}), "cuda") << note;

  EXPECT_EQ(counts().contexts[0], 1);
  for (int device = 1; device < 4; ++device) EXPECT_EQ(counts().contexts[device], 0) << device;
}

}  // namespace
}  // namespace berth::cuda_on_threads
