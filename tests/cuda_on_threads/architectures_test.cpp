#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "cuda/architectures.hpp"

namespace berth::cuda::architectures_test {
namespace {

/// Of the devices that there are, those that have code in such a build.
std::string devices_of(std::string_view list) {
  std::string devices;
  for (const int capability : {75, 80, 86, 89, 90, 100, 103, 110, 120, 121}) {
    if (has_code(list, capability)) devices += std::to_string(capability) + " ";
  }
  return devices;
}

TEST(Architectures, MachineCodeRunsOnItsMajorVersionFromItsMinorVersionOn) {
  EXPECT_EQ(devices_of("80-real"), "80 86 89 ");
  EXPECT_EQ(devices_of("86-real"), "86 89 ");
  EXPECT_EQ(devices_of("90-real"), "90 ");
  EXPECT_EQ(devices_of("75-real,100-real"), "75 100 103 ");
}

TEST(Architectures, PtxRunsOnEverythingThatIsNotOlder) {
  EXPECT_EQ(devices_of("90-virtual"), "90 100 103 110 120 121 ");
  EXPECT_EQ(devices_of("86"), "86 89 90 100 103 110 120 121 ");  // both
}

TEST(Architectures, CodeOfOneArchitectureRunsThereAlone) {
  EXPECT_EQ(devices_of("90a"), "90 ");
  EXPECT_EQ(devices_of("90a-real"), "90 ");
  EXPECT_EQ(devices_of("90a-virtual"), "90 ");
  EXPECT_EQ(devices_of("80-real,90a-real,100a-real"), "80 86 89 90 100 ");
}

TEST(Architectures, CodeOfAFamilyRunsOnItsMajorVersion) {
  EXPECT_EQ(devices_of("100f-real"), "100 103 ");
  EXPECT_EQ(devices_of("103f-virtual"), "103 ");
}

TEST(Architectures, AreNamedAsTheCompilerNamesThem) {
  EXPECT_EQ(architecture_names("80-real,90a,100f-real,120-virtual"), "sm_80, sm_90a, compute_90a, sm_100f, compute_120");
  EXPECT_EQ(architecture_names(""), "");
}

}  // namespace
}  // namespace berth::cuda::architectures_test
