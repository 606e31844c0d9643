#pragma once

#include <berth.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "berth/error.hpp"

/// Structs whose first member is their size, for compatibility with callers of other minor versions.
namespace berth::c {

/// No struct will ever be larger: a larger size is invalid, and nothing is read.
inline constexpr std::uint32_t kMaxStructBytes = 16'384;

/// Size of a struct at its first release: callers of that version keep working however much it has grown since.
template <class T>
inline constexpr std::size_t kFirstBytes = 0;
template <>
inline constexpr std::size_t kFirstBytes<berth_entries> = offsetof(berth_entries, time_shared) + sizeof(const uint8_t*);
template <>
inline constexpr std::size_t kFirstBytes<berth_jobs> = offsetof(berth_jobs, attained_gpu_us) + sizeof(const int64_t*);
template <>
inline constexpr std::size_t kFirstBytes<berth_cluster> = offsetof(berth_cluster, jobs) + sizeof(const berth_jobs*);
template <>
inline constexpr std::size_t kFirstBytes<berth_deltas> = offsetof(berth_deltas, attained_gpu_us) + sizeof(const int64_t*);
template <>
inline constexpr std::size_t kFirstBytes<berth_state_info> = offsetof(berth_state_info, refused_batches) + sizeof(uint64_t);
template <>
inline constexpr std::size_t kFirstBytes<berth_request> = offsetof(berth_request, progress_data) + sizeof(void*);
template <>
inline constexpr std::size_t kFirstBytes<berth_engine_stats> = offsetof(berth_engine_stats, decide_ns_max) + sizeof(uint64_t);
template <>
inline constexpr std::size_t kFirstBytes<berth_plan_info> = offsetof(berth_plan_info, decide_s) + sizeof(double);
template <>
inline constexpr std::size_t kFirstBytes<berth_decisions> = offsetof(berth_decisions, other_job) + sizeof(int32_t*);
template <>
inline constexpr std::size_t kFirstBytes<berth_queue_standings> = offsetof(berth_queue_standings, starved_since_us) + sizeof(int64_t*);
template <>
inline constexpr std::size_t kFirstBytes<berth_plan_entries> = offsetof(berth_plan_entries, time_shared) + sizeof(uint8_t*);

/// @throws InvalidArgument for a null pointer and a size that the struct never had.
template <class T>
void check_struct(const T* given, const char* name) {
  static_assert(kFirstBytes<T> > 0, "the struct needs a line above");
  if (given == nullptr) throw InvalidArgument(std::string(name) + " is null");
  if (given->struct_size < kFirstBytes<T> || given->struct_size > kMaxStructBytes) {
    throw InvalidArgument(std::string(name) + ".struct_size is " + std::to_string(given->struct_size) + ": set it to sizeof, at least " +
                          std::to_string(kFirstBytes<T>));
  }
}

/// The caller's struct as this library knows it. @throws InvalidArgument as check_struct, and for a newer struct that
/// uses unknown members.
template <class T>
T get_struct(const T* from, const char* name) {
  check_struct(from, name);
  const std::uint32_t size = from->struct_size;
  const auto* bytes = reinterpret_cast<const unsigned char*>(from);
  for (std::size_t i = sizeof(T); i < size; ++i) {
    if (bytes[i] != 0) throw InvalidArgument(std::string(name) + " uses a field that this version of the library does not know");
  }
  T to{};
  std::memcpy(&to, from, std::min<std::size_t>(size, sizeof(T)));
  to.struct_size = sizeof(T);
  return to;
}

/// Writes as much as fits into the caller's struct; its size stays, and members unknown to this library become zero.
template <class T>
void put_struct(T* to, T what) {
  what.struct_size = to->struct_size;
  const std::size_t known = std::min<std::size_t>(what.struct_size, sizeof(T));
  std::memcpy(to, &what, known);
  if (what.struct_size > known) std::memset(reinterpret_cast<unsigned char*>(to) + known, 0, what.struct_size - known);
}

/// The same, after the checks. @throws InvalidArgument as check_struct.
template <class T>
void fill_struct(T* to, const T& what, const char* name) {
  check_struct(to, name);
  put_struct(to, what);
}

}  // namespace berth::c
