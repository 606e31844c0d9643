#include "tests/barriers/race_check.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>

namespace berth::test {
namespace {

constexpr std::uintptr_t kPage = 4096;
constexpr std::uint16_t kSeveral = UINT16_MAX;

/// The last accesses of a byte, by the interval between barriers in which they were.
struct Cell {
  std::uint32_t written = 0, read = 0;
  std::uint16_t writer = 0, reader = 0;
};
using Cells = std::array<Cell, kPage>;

FiberBlock* watched = nullptr;
std::int64_t checked = 0;
std::unordered_map<std::uintptr_t, std::unique_ptr<Cells>> pages;
std::uintptr_t last_page = 0;
Cells* last_cells = nullptr;

Cell& cell_of(std::uintptr_t at) {
  if (at / kPage != last_page || last_cells == nullptr) {
    last_page = at / kPage;
    std::unique_ptr<Cells>& cells = pages[last_page];
    if (cells == nullptr) cells = std::make_unique<Cells>();
    last_cells = cells.get();
  }
  return (*last_cells)[at % kPage];
}

void access(const void* address, std::size_t bytes, bool write) {
  FiberBlock* const block = watched;
  if (block == nullptr) return;
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  if (block->on_a_stack(first)) return;
  ++checked;
  const std::uint32_t now = block->interval();
  const auto mine = static_cast<std::uint16_t>(block->rank());
  for (std::uintptr_t at = first; at < first + bytes; ++at) {
    Cell& cell = cell_of(at);
    if (cell.written == now && cell.writer != mine) {
      block->abandon("race: thread " + std::to_string(mine) + (write ? " writes" : " reads") + " what thread " +
                     std::to_string(cell.writer) + " wrote");
    }
    if (write && cell.read == now && cell.reader != mine) {
      block->abandon("race: thread " + std::to_string(mine) + " writes what another thread read");
    }
    if (write) {
      cell.written = now;
      cell.writer = mine;
    } else if (cell.read != now) {
      cell.read = now;
      cell.reader = mine;
    } else if (cell.reader != mine) {
      cell.reader = kSeveral;
    }
  }
}

}  // namespace

void check_races_of(FiberBlock* block) { watched = block; }
std::int64_t accesses_checked() { return checked; }

}  // namespace berth::test

// The functions that gcc calls in instrumented code.
#define BERTH_HOOK(bytes)                                                                           \
  extern "C" void __tsan_read##bytes(void* at) { berth::test::access(at, bytes, false); }           \
  extern "C" void __tsan_write##bytes(void* at) { berth::test::access(at, bytes, true); }           \
  extern "C" void __tsan_unaligned_read##bytes(void* at) { berth::test::access(at, bytes, false); } \
  extern "C" void __tsan_unaligned_write##bytes(void* at) { berth::test::access(at, bytes, true); } \
  extern "C" void __tsan_volatile_read##bytes(void* at) { berth::test::access(at, bytes, false); }  \
  extern "C" void __tsan_volatile_write##bytes(void* at) { berth::test::access(at, bytes, true); }
BERTH_HOOK(1)
BERTH_HOOK(2)
BERTH_HOOK(4)
BERTH_HOOK(8)
BERTH_HOOK(16)
#undef BERTH_HOOK
extern "C" void __tsan_read_range(void* at, std::size_t bytes) { berth::test::access(at, bytes, false); }
extern "C" void __tsan_write_range(void* at, std::size_t bytes) { berth::test::access(at, bytes, true); }
extern "C" void __tsan_vptr_update(void** /*unused*/, void* /*unused*/) {}
extern "C" void __tsan_vptr_read(void** /*unused*/) {}
extern "C" void __tsan_func_entry(void* /*unused*/) {}
extern "C" void __tsan_func_exit() {}
extern "C" void __tsan_init() {}
// Reference counts and statics of the cases; bodies have no atomics.
extern "C" int __tsan_atomic32_fetch_add(volatile int* at, int v, int /*order*/) { return __atomic_fetch_add(at, v, __ATOMIC_SEQ_CST); }
extern "C" unsigned char __tsan_atomic8_load(const volatile unsigned char* at, int /*order*/) {
  return __atomic_load_n(at, __ATOMIC_SEQ_CST);
}
