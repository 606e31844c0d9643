#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace berth::core {

/// FNV-1a, 64 bits: identifies the tables that a plan was computed with. Numbers enter as 8 bytes, least significant
/// first, on any machine.
class TableHash {
 public:
  void add(std::string_view text) {
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
  }
  void add(std::int64_t number) {
    for (int i = 0; i < 8; ++i) add_byte(static_cast<unsigned char>(static_cast<std::uint64_t>(number) >> (8 * i)));
  }
  void add(std::span<const std::int64_t> table) {
    add(static_cast<std::int64_t>(table.size()));
    for (const std::int64_t number : table) add(number);
  }
  std::uint64_t value() const { return hash_; }

 private:
  void add_byte(unsigned char byte) { hash_ = (hash_ ^ byte) * 0x100000001b3ULL; }

  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace berth::core
