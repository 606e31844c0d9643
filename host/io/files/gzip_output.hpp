#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "host/io/files/write_pieces.hpp"

namespace berth::io {

/// Whether what is written under this name is packed: it ends in ".gz".
bool names_gzip(std::string_view path);

/// Packs what it is given into one gzip member. Equal content gives equal bytes: no name and no time stand in it.
class GzipOutput {
 public:
  /// @param write  Takes the packed bytes.
  explicit GzipOutput(WritePiece write);
  ~GzipOutput();
  GzipOutput(const GzipOutput&) = delete;
  GzipOutput& operator=(const GzipOutput&) = delete;

  void add(std::string_view piece);
  void finish();

 private:
  struct Deflate;
  void pack(std::string_view piece, int flush);

  WritePiece write_;
  std::unique_ptr<Deflate> deflate_;
};

}  // namespace berth::io
