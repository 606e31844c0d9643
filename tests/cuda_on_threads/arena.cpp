#include "tests/cuda_on_threads/arena.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>

#include "tests/support/fibers/sanitizers.hpp"

namespace berth::cuda_on_threads {
namespace {

constexpr std::size_t kAlign = 256;
constexpr int kRubbish = 0xa5;

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

Arena::Arena(std::size_t bytes) : total_(bytes), mapped_(round_up(2 * bytes + kAlign, 4096)) {
  // Twice as much address space as memory, for the gaps between small blocks.
  void* map = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::byte*>(map);
}

Arena::~Arena() {
  test::unpoison(base_, mapped_);
  munmap(base_, mapped_);
}

void Arena::protect(bool open) {
  if (mprotect(base_, mapped_, open ? PROT_READ | PROT_WRITE : PROT_NONE) != 0) throw std::bad_alloc();
}

Arena::Open::Open(Arena& arena) : arena_(arena) {
  if (arena_.opened_++ == 0) arena_.protect(true);
}
Arena::Open::~Open() {
  if (--arena_.opened_ == 0) arena_.protect(false);
}

void* Arena::allocate(std::size_t bytes) {
  if (bytes > total_ - used_) return nullptr;
  const std::size_t room = round_up(bytes, kAlign) + kAlign;  // with the gap behind it
  std::size_t at = 0;
  for (const auto& [offset, size] : blocks_) {
    if (offset - at >= room) break;
    at = offset + round_up(size, kAlign) + kAlign;
  }
  if (at + room > mapped_) return nullptr;
  blocks_.emplace(at, bytes);
  used_ += bytes;
  const Open open(*this);
  test::unpoison(base_ + at, bytes);
  std::memset(base_ + at, kRubbish, bytes);
  test::poison(base_ + at + bytes, round_up(at + bytes, kAlign) + kAlign - (at + bytes));
  return base_ + at;
}

bool Arena::free(void* data) {
  const auto found = owns(data) ? blocks_.find(static_cast<std::size_t>(static_cast<std::byte*>(data) - base_)) : blocks_.end();
  if (found == blocks_.end()) return false;
  const Open open(*this);
  std::memset(data, kRubbish, found->second);
  test::poison(data, found->second);
  used_ -= found->second;
  blocks_.erase(found);
  return true;
}

bool Arena::holds(const void* data, std::size_t bytes) const {
  if (!owns(data)) return false;
  const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(data) - base_);
  auto found = blocks_.upper_bound(at);
  if (found == blocks_.begin()) return false;
  --found;
  return at + bytes <= found->first + found->second;
}

bool Arena::owns(const void* data) const { return reinterpret_cast<std::size_t>(data) - reinterpret_cast<std::size_t>(base_) < mapped_; }

}  // namespace berth::cuda_on_threads
