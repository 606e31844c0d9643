#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "berth/error.hpp"

/// Structs whose first member is their size, so that callers of other minor versions are understood.
namespace berth::c {

/// No struct of ours will ever be larger: a larger size is garbage, and nothing is read.
inline constexpr std::uint32_t kMaxStructBytes = 16'384;

/// The caller's struct as this library knows it. `first`: the size that the struct had in version 1.0.
/// @throws InvalidArgument for a null pointer, a size below `first`, or a newer struct that uses what this library does not know.
template <class T>
T get_struct(const T* from, const char* name, std::size_t first = sizeof(T)) {
  if (from == nullptr) throw InvalidArgument(std::string(name) + " is null");
  const std::uint32_t size = from->struct_size;
  if (size < first || size > kMaxStructBytes) {
    throw InvalidArgument(std::string(name) + ".struct_size is " + std::to_string(size) + ": set it to sizeof, at least " +
                          std::to_string(first));
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(from);
  for (std::size_t i = sizeof(T); i < size; ++i) {
    if (bytes[i] != 0) throw InvalidArgument(std::string(name) + " uses a field that this version of the library does not know");
  }
  T to{};
  std::memcpy(&to, from, std::min<std::size_t>(size, sizeof(T)));
  to.struct_size = sizeof(T);
  return to;
}

/// Writes as much as the caller's struct has room for; its size stays, and what this library does not know becomes zero.
template <class T>
void put_struct(T* to, T what) {
  what.struct_size = to->struct_size;
  const std::size_t known = std::min<std::size_t>(what.struct_size, sizeof(T));
  std::memcpy(to, &what, known);
  if (what.struct_size > known) std::memset(reinterpret_cast<unsigned char*>(to) + known, 0, what.struct_size - known);
}

/// The same, after the checks. @throws InvalidArgument as get_struct.
template <class T>
void fill_struct(T* to, const T& what, const char* name, std::size_t first = sizeof(T)) {
  if (to == nullptr) throw InvalidArgument(std::string(name) + " is null");
  if (to->struct_size < first || to->struct_size > kMaxStructBytes) {
    throw InvalidArgument(std::string(name) + ".struct_size is " + std::to_string(to->struct_size) + ": set it to sizeof, at least " +
                          std::to_string(first));
  }
  put_struct(to, what);
}

}  // namespace berth::c
