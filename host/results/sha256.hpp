#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth::results {

/// SHA-256 (FIPS 180-4) of bytes that come in pieces.
class Sha256 {
 public:
  void add(std::string_view bytes);
  /// 64 hexadecimal digits; `add` must not be called afterwards.
  std::string finish();

 private:
  void mix(const unsigned char* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> block_{};
  std::size_t filled_ = 0;  // bytes of block_
  std::uint64_t bytes_ = 0;
};

std::string sha256_of(std::string_view bytes);

/// Of the bytes of a file, as they are on the disk. @throws EnvironmentError naming the file.
std::string sha256_of_file(const std::string& path);

}  // namespace berth::results
