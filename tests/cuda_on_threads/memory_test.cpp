#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/chunks.hpp"
#include "cuda/device_buffer.cuh"
#include "tests/cuda_on_threads/runtime.hpp"

/// When device and pinned memory is given back, and how a batch is divided.
namespace berth::cuda::memory_test {
namespace {

constexpr std::size_t kLarge = 4 << 20;

TEST(Buffer, ShrinksAfterSixteenOperationsThatNeedLessThanAQuarter) {
  cuda_on_threads::Runtime::get().apply({});
  DeviceBuffer<std::byte> buffer;
  buffer.reserve(kLarge, "test");
  for (int i = 0; i < 15; ++i) buffer.reserve(1000 + static_cast<std::size_t>(i), "test");
  EXPECT_EQ(buffer.capacity(), kLarge);

  buffer.reserve(500, "test");

  EXPECT_EQ(buffer.capacity(), 1014U);  // the largest of them
  EXPECT_EQ(cuda_on_threads::Runtime::get().counts.device_bytes, 1014);
}

TEST(Buffer, StaysWhereOneOfSixteenOperationsNeedsAQuarter) {
  PinnedBuffer<std::byte> buffer;
  buffer.reserve(kLarge, "test");
  for (int i = 0; i < 100; ++i) buffer.reserve(i % 16 == 0 ? kLarge / 4 : 1, "test");

  EXPECT_EQ(buffer.capacity(), kLarge);
}

TEST(Buffer, OfLessThanAMebibyteStays) {
  DeviceBuffer<std::byte> buffer;
  buffer.reserve(1000, "test");
  for (int i = 0; i < 100; ++i) buffer.reserve(1, "test");

  EXPECT_EQ(buffer.capacity(), 1000U);
}

TEST(Kept, GoesWhenSixteenOthersRanInARow) {
  Kept<int> kept;
  kept.use() = 7;
  for (int i = 0; i < 15; ++i) kept.rest();
  EXPECT_EQ(kept.use(), 7);
  for (int i = 0; i < 16; ++i) kept.rest();

  EXPECT_EQ(kept.use(), 0);
}

struct Bytes {
  std::size_t device = 0, host = 0;
  Bytes& operator+=(const Bytes& more) {
    device += more.device;
    host += more.host;
    return *this;
  }
  std::size_t bytes() const { return device; }
  std::size_t pinned() const { return host; }
};

/// The sizes of the chunks of such tasks.
std::string chunks(const std::vector<Bytes>& tasks, std::size_t pinned) {
  std::string sizes;
  in_chunks(
      std::span<const Bytes>(tasks), 0, pinned, kTuning[0], [](const Bytes& task) { return task; },
      [&](std::span<const Bytes> some, const Bytes&) { sizes += std::to_string(some.size()) + " "; });
  return sizes;
}

TEST(Chunks, PinNoMoreThanTheBoundUnlessASingleTaskDoes) {
  EXPECT_EQ(chunks(std::vector<Bytes>(10, {1, 100}), 1000), "10 ");
  EXPECT_EQ(chunks(std::vector<Bytes>(10, {1, 100}), 999), "9 1 ");
  EXPECT_EQ(chunks(std::vector<Bytes>(5, {1, 100}), 250), "2 2 1 ");
  EXPECT_EQ(chunks({{1, 10}, {1, 500}, {1, 10}, {1, 10}}, 100), "1 1 2 ");
}

TEST(Chunks, PiecesHaveNoMoreThanTheBoundUnlessASinglePartDoes) {
  const std::vector<std::int64_t> starts{0, 3, 3, 8, 20, 21};
  std::string pieces;
  in_pieces(std::span<const std::int64_t>(starts), 8,
            [&](std::size_t first, std::size_t last) { pieces += std::to_string(first) + "-" + std::to_string(last) + " "; });

  EXPECT_EQ(pieces, "0-3 3-4 4-5 ");
}

}  // namespace
}  // namespace berth::cuda::memory_test
