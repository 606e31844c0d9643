#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/backend/backend.hpp"
#include "tests/support/parity/parity_stride.hpp"

/// The backends that parity tests compare with the reference.
namespace berth::test {

/// Names of the backends of this build, written by CMake: "cpu1", "cpu2", "cpu5", and "cuda" where it is built.
std::vector<std::string> built_backends();

/// A backend by name. Null when it cannot be used here; `why` then has the cause.
std::unique_ptr<core::PlacementBackend> make_backend(const std::string& name, std::string& why);

/// True when BERTH_REQUIRE_GPU=1: the machine has a GPU, so that skipping a GPU test would hide a fault.
bool gpu_is_required();

/// One test per backend of the build. Each operation has its own suite, such as PlaceOnBackend.
/// A backend that cannot be used here skips with the cause, or fails where a GPU is required.
class OnBackend : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;
  core::PlacementBackend& backend() { return *backend_; }

 private:
  std::unique_ptr<core::PlacementBackend> backend_;
};

}  // namespace berth::test
