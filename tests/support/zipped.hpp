#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>

namespace berth::test {

/// A zip archive with one deflated file, as written by Go's archive/zip: sizes are only after the file and in the list.
inline std::string zipped(const std::string& name, const std::string& content) {
  const auto number = [](std::uint64_t value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(i < 8 ? value >> (8 * i) & 0xff : 0);
    return out;
  };
  std::string packed(content.size() + 100, '\0');
  std::string in = content;
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  z.next_in = reinterpret_cast<Bytef*>(in.data());
  z.avail_in = static_cast<uInt>(in.size());
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = static_cast<uInt>(packed.size());
  deflate(&z, Z_FINISH);
  packed.resize(z.total_out);
  deflateEnd(&z);
  const std::string sizes = number(crc32(0, reinterpret_cast<const Bytef*>(in.data()), static_cast<uInt>(in.size())), 4) +
                            number(packed.size(), 4) + number(content.size(), 4);
  std::string out = std::string("PK\x03\x04") + number(20, 2) + number(8, 2) + number(8, 2) + number(0, 4) + number(0, 12) +
                    number(name.size(), 2) + number(0, 2) + name + packed + std::string("PK\x07\x08") + sizes;
  const std::size_t list = out.size();
  out += std::string("PK\x01\x02") + number(20, 2) + number(20, 2) + number(8, 2) + number(8, 2) + number(0, 4) + sizes +
         number(name.size(), 2) + number(0, 12) + number(0, 4) + name;
  return out + std::string("PK\x05\x06") + number(0, 4) + number(1, 2) + number(1, 2) + number(out.size() - list, 4) + number(list, 4) +
         number(0, 2);
}

}  // namespace berth::test
