#include "bench/costs/counts.hpp"

#include "bench/costs/fibers.hpp"

namespace berth::bench {
namespace {

struct Sink {
  Counts* counts = nullptr;
  Ranges ranges;
  Range stacks;
};
Sink sink;

bool in(const Range& range, std::uintptr_t address) { return address - reinterpret_cast<std::uintptr_t>(range.first) < range.bytes; }

Memory memory_of(std::uintptr_t at) {
  const Ranges& r = sink.ranges;
  if (in(r.own, at)) return kOwn;
  if (in(r.parent, at)) return kParent;
  if (in(r.workspace, at)) return kWorkspace;
  for (const Range& range : r.addresses) {
    if (in(range, at)) return kAddresses;
  }
  return kProblem;
}

void access(const void* address, std::size_t bytes, bool store) {
  if (sink.counts == nullptr) return;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (in(sink.stacks, at)) return;
  Counts* const counts = sink.counts;
  const Memory memory = memory_of(at);
  Traffic& traffic = counts->of[memory];
  ++(store ? traffic.stores : traffic.loads);
  (store ? traffic.stored : traffic.loaded) += static_cast<std::int64_t>(bytes);
  for (std::uintptr_t s = at / kSector; s <= (at + bytes - 1) / kSector; ++s) (store ? traffic.out : traffic.in).insert(s);
  if (store || current_fiber() != 0) return;
  ++counts->alone;
  if (memory != kAddresses) ++counts->alone_memory;
}

}  // namespace

Traffic& Traffic::operator+=(const Traffic& more) {
  loads += more.loads;
  stores += more.stores;
  loaded += more.loaded;
  stored += more.stored;
  in.insert(more.in.begin(), more.in.end());
  out.insert(more.out.begin(), more.out.end());
  return *this;
}

Counts& Counts::operator+=(const Counts& more) {
  barriers += more.barriers;
  exchanged += more.exchanged;
  alone += more.alone;
  alone_memory += more.alone_memory;
  for (int m = 0; m < kMemories; ++m) of[m] += more.of[m];
  return *this;
}

void count_into(Counts* counts, const Ranges& ranges) { sink = {counts, ranges, fiber_stacks()}; }
Counts* counting() { return sink.counts; }

}  // namespace berth::bench

// The functions that gcc calls in instrumented code.
#define BERTH_HOOK(bytes)                                                                            \
  extern "C" void __tsan_read##bytes(void* at) { berth::bench::access(at, bytes, false); }           \
  extern "C" void __tsan_write##bytes(void* at) { berth::bench::access(at, bytes, true); }           \
  extern "C" void __tsan_unaligned_read##bytes(void* at) { berth::bench::access(at, bytes, false); } \
  extern "C" void __tsan_unaligned_write##bytes(void* at) { berth::bench::access(at, bytes, true); } \
  extern "C" void __tsan_volatile_read##bytes(void* at) { berth::bench::access(at, bytes, false); }  \
  extern "C" void __tsan_volatile_write##bytes(void* at) { berth::bench::access(at, bytes, true); }
BERTH_HOOK(1)
BERTH_HOOK(2)
BERTH_HOOK(4)
BERTH_HOOK(8)
BERTH_HOOK(16)
#undef BERTH_HOOK
extern "C" void __tsan_read_range(void* at, std::size_t bytes) { berth::bench::access(at, bytes, false); }
extern "C" void __tsan_write_range(void* at, std::size_t bytes) { berth::bench::access(at, bytes, true); }
extern "C" void __tsan_vptr_update(void**, void*) {}
extern "C" void __tsan_vptr_read(void**) {}
extern "C" void __tsan_func_entry(void*) {}
extern "C" void __tsan_func_exit() {}
extern "C" void __tsan_init() {}
