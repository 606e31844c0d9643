#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace berth::core {

/// Rows that a pass fills from the first on, with room for the most that it may give. They are not initialised: memory
/// that no pass has reached is not resident.
template <class Row>
class RowBuffer {
 public:
  static_assert(std::is_trivially_copyable_v<Row>);
  RowBuffer() = default;
  RowBuffer(RowBuffer&& other) noexcept : rows_(std::move(other.rows_)), size_(std::exchange(other.size_, 0)) {}
  RowBuffer& operator=(RowBuffer&& other) noexcept {
    rows_ = std::move(other.rows_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  /// Room for at least `rows`. Where it grows, the content is lost.
  void make_room(std::size_t rows) {
    if (rows <= size_) return;
    rows_.reset();
    rows_ = std::make_unique_for_overwrite<Row[]>(rows);
    size_ = rows;
  }
  Row* data() { return rows_.get(); }
  const Row* data() const { return rows_.get(); }
  std::size_t size() const { return size_; }

 private:
  std::unique_ptr<Row[]> rows_;
  std::size_t size_ = 0;
};

}  // namespace berth::core
