#pragma once

#include <cstddef>
#include <map>

/// The memory of one device. Host code that touches it outside of the work of a stream crashes.
///
/// Promise: new memory holds rubbish, freed memory too; blocks are 256 bytes aligned, as CUDA's, and 256 bytes or more
/// apart, which the address sanitizer watches. No more than the device has is ever in use.
namespace berth::cuda_on_threads {

class Arena {
 public:
  explicit Arena(std::size_t bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Null when there is not that much, in one piece.
  void* allocate(std::size_t bytes);
  /// False when nothing was allocated there.
  bool free(void* data);
  /// Whether all these bytes are in one allocation.
  bool holds(const void* data, std::size_t bytes) const;
  /// Whether the address is the device's, allocated or not.
  bool owns(const void* data) const;
  std::size_t used() const { return used_; }
  std::size_t total() const { return total_; }

  /// While one exists, memory can be read and written.
  class Open {
   public:
    explicit Open(Arena& arena);
    ~Open();
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;

   private:
    Arena& arena_;
  };

 private:
  void protect(bool open);

  std::size_t total_, used_ = 0, mapped_;
  std::byte* base_;
  int opened_ = 0;
  std::map<std::size_t, std::size_t> blocks_;  // offset -> bytes
};

}  // namespace berth::cuda_on_threads
