#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/error.hpp"
#include "host/core/backend/backends.hpp"
#include "host/core/backend/devices.hpp"
#include "tests/cuda_on_threads/operations.hpp"
#include "tests/cuda_on_threads/stand_in.hpp"
#include "tests/support/parity/parity_stride.hpp"

/// Machines without a driver, with an old one, without a GPU that can be used, and with several.
namespace berth::cuda_on_threads::devices_test {
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

std::string uuid_of(int device) { return "GPU-ab000000-0000-0000-0000-00000000000" + std::to_string(device); }
std::string label_of(int device) {
  return std::to_string(device) + " (threads of the host, " + std::to_string(device) + ", " + uuid_of(device) + ")";
}

TEST(Machine, AnEngineUsesTheDeviceThatIsChosenByIndexOrUuid) {
  Settings settings;
  settings.devices = 3;
  for (const std::string& wanted : {std::string("2"), uuid_of(2)}) {
    set(settings);
    core::Backends backends;
    backends.use_device(wanted);
    std::string note;
    EXPECT_STREQ(
        backends.run(Backend::kCuda, 1, note, [](core::PlacementBackend& one) { EXPECT_EQ(operations().front().difference(one), ""); }),
        "cuda");
    EXPECT_EQ(backends.device(), label_of(2));
    EXPECT_EQ(counts().contexts[1], 0);
    EXPECT_EQ(counts().contexts[2], 1);
  }
}

TEST(Machine, ADeviceThatIsNoneIsRefusedWithThoseThatThereAre) {
  Settings settings;
  settings.devices = 2;
  set(settings);
  for (const std::string wanted : {"2", "-1", "GPU-", "x"}) {
    core::Backends backends;
    backends.use_device(wanted);
    std::string note;
    try {
      backends.run(Backend::kCuda, 1, note, [](core::PlacementBackend&) {});
      ADD_FAILURE() << wanted;
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(std::string(error.what()),
                "device '" + wanted + "': there is none of that index or UUID, but " + label_of(0) + "; " + label_of(1));
    }
  }
}

TEST(Machine, ADeviceThatHasNoCodeIsNotReplacedByAnother) {
  Settings settings;
  settings.devices = 2;
  settings.first_capability = 70;
  set(settings);
  core::Backends first, any;
  first.use_device("0");
  std::string note;

  EXPECT_STREQ(first.run(Backend::kCuda, 1, note, [](core::PlacementBackend&) {}), "cpu");
  EXPECT_NE(note.find("no code for compute capability 7.0"), std::string::npos) << note;
  EXPECT_EQ(first.device(), "");
  EXPECT_STREQ(any.run(Backend::kCuda, 1, note, [](core::PlacementBackend&) {}), "cuda");
  EXPECT_EQ(any.device(), label_of(1));
}

TEST(Machine, EnginesOnTwoDevicesAnswerInTurns) {
  Settings settings;
  settings.devices = 2;
  set(settings);
  core::Backends engines[2];
  for (int device = 0; device < 2; ++device) engines[device].use_device(std::to_string(device));
  const int turns = test::parity_stride() > 1 ? 2 : 3;
  for (int turn = 0; turn < turns; ++turn) {
    for (const Operation& operation : operations()) {
      for (int device = 0; device < 2; ++device) {
        std::string note;
        EXPECT_STREQ(engines[device].run(Backend::kCuda, 1, note,
                                         [&](core::PlacementBackend& one) { EXPECT_EQ(operation.difference(one), "") << operation.name; }),
                     "cuda")
            << operation.name << note;
        EXPECT_EQ(engines[device].device(), label_of(device));
      }
    }
  }
  EXPECT_STREQ(stand_in().misuse(), "");
}

}  // namespace
}  // namespace berth::cuda_on_threads::devices_test
