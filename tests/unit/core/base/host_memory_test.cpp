#include "host/core/base/host_memory.hpp"

#include <gtest/gtest.h>

namespace berth::core::host_memory_test {
namespace {

TEST(HostMemory, HalfOfItIsThatOfTheMachineOrOfTheControlGroup) {
  EXPECT_EQ(half_of_memory(100, ""), 50);
  EXPECT_EQ(half_of_memory(100, "max"), 50);
  EXPECT_EQ(half_of_memory(100, "40"), 20);
  EXPECT_EQ(half_of_memory(100, "400"), 50);
  EXPECT_EQ(half_of_memory(100, "99999999999999999999999999"), 50);
}

TEST(HostMemory, OfThisMachineIsMoreThanAProcessNeeds) { EXPECT_GT(half_of_memory(), std::size_t{16} << 20); }

}  // namespace
}  // namespace berth::core::host_memory_test
