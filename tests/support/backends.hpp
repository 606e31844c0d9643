#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "host/core/backend.hpp"

/// The backends that parity tests compare with the reference.
namespace berth::test {

/// Names of the backends of this build, written by CMake: "cpu1", "cpu2", "cpu5", and "cuda" where it is built.
std::vector<std::string> built_backends();

/// A backend by name; null with the cause in `why` when it cannot be used here.
std::unique_ptr<core::PlacementBackend> make_backend(const std::string& name, std::string& why);

/// True when BERTH_REQUIRE_GPU=1: this machine promises a GPU, so that a skipped GPU test would hide a fault.
bool gpu_is_required();

/// One test for each backend of the build. One that is built and cannot be used here skips, and says why; where a
/// GPU is required it fails.
class OnBackend : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;
  core::PlacementBackend& backend() { return *backend_; }

 private:
  std::unique_ptr<core::PlacementBackend> backend_;
};

}  // namespace berth::test
