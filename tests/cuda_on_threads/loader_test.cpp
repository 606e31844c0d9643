#include <gtest/gtest.h>

#include <string>

#include "berth/build_id.hpp"
#include "host/core/backend/backends.hpp"
#include "host/core/backend/devices.hpp"

/// What is next to this program in place of libberth_cuda.so depends on its folder: CMakeLists.txt runs one case in each.
namespace berth::core::loader_test {
namespace {

/// The cause that a decision gives for not using a GPU.
std::string note() {
  Backends backends;
  std::string text;
  EXPECT_STREQ(backends.run(Backend::kCuda, 1, text, [](PlacementBackend&) {}), "cpu");
  return text;
}

TEST(CudaLoader, RejectsAPluginOfAnotherBuildAndNamesBoth) {
  EXPECT_NE(note().find("libberth_cuda.so is of build 0.0.0-other, this is " BERTH_BUILD_ID), std::string::npos) << note();
}

TEST(CudaLoader, SaysWhyAFileCannotBeLoaded) {
  EXPECT_NE(note().find("libberth_cuda.so cannot be loaded: "), std::string::npos) << note();
  EXPECT_NE(note().find("file too short"), std::string::npos) << note();
}

}  // namespace
}  // namespace berth::core::loader_test
