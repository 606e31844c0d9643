#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace berth::core {

/// The order of job slots by (key, rank), kept from one decision to the next. An update sorts what changed and merges it
/// into the rest; the result is that of sorting everything.
class JobOrder {
 public:
  /// Takes slots out and puts changed or new ones in.
  ///
  /// Ranks of unchanged slots may shift, as they do when a job arrives, but not among each other.
  /// O(n + c) for c changed slots; does not allocate once it has seen as many slots and changes.
  /// @param changed  Slots that are new or whose key changed; a repetition is harmless.
  /// @param removed  Slots that leave; one that is in `changed` too was given to a new job and stays. Unknown ones are ignored.
  /// @param keys, ranks  [slots], by slot; ranks are distinct and >= 0.
  void update(std::span<const std::int32_t> changed, std::span<const std::int32_t> removed, std::span<const std::int64_t> keys,
              std::span<const std::int32_t> ranks);
  void clear() { order_.clear(); }

  std::span<const std::int32_t> order() const { return order_; }

 private:
  // Unsigned and biased, so that bytes compare like the numbers.
  struct Row {
    std::uint64_t key;
    std::uint32_t rank;
    std::int32_t slot;
  };
  void sort_rows();
  void merge(std::span<const std::int64_t> keys, std::span<const std::int32_t> ranks);

  std::vector<std::int32_t> order_, next_;
  std::vector<std::uint8_t> mark_;  // by slot; all 0 between updates
  std::vector<Row> rows_, spare_;
};

}  // namespace berth::core
