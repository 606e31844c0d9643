#include "host/io/files/gzip_output.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <climits>
#include <new>
#include <utility>

namespace berth::io {

bool names_gzip(std::string_view path) {
  constexpr std::string_view kTail = ".gz";
  return path.size() > kTail.size() && path.substr(path.size() - kTail.size()) == kTail;
}

struct GzipOutput::Deflate {
  z_stream stream{};

  Deflate() {
    constexpr int kWindow = 15, kGzip = 16, kMemory = 8;
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kWindow + kGzip, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  ~Deflate() { deflateEnd(&stream); }
  Deflate(const Deflate&) = delete;
  Deflate& operator=(const Deflate&) = delete;
};

GzipOutput::GzipOutput(WritePiece write) : write_(std::move(write)), deflate_(std::make_unique<Deflate>()) {}

GzipOutput::~GzipOutput() = default;

void GzipOutput::add(std::string_view piece) {
  while (!piece.empty()) {
    const std::size_t n = std::min<std::size_t>(piece.size(), UINT_MAX);
    pack(piece.substr(0, n), Z_NO_FLUSH);
    piece.remove_prefix(n);
  }
}

void GzipOutput::finish() { pack({}, Z_FINISH); }

void GzipOutput::pack(std::string_view piece, int flush) {
  std::array<char, 1 << 16> out;
  z_stream& z = deflate_->stream;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
  z.avail_in = static_cast<uInt>(piece.size());
  do {
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    (void)deflate(&z, flush);  // the stream is sound, so that nothing can fail
    write_({out.data(), out.size() - z.avail_out});
  } while (z.avail_out == 0);
}

}  // namespace berth::io
