#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

namespace berth::test {

/// A file with this content, removed with the object; its name ends in `tail`.
class TempFile {
 public:
  explicit TempFile(std::string_view content, const std::string& tail = ".csv") {
    static int count = 0;
    path_ = ::testing::TempDir() + "berth_" + std::to_string(getpid()) + "_" + std::to_string(count++) + tail;
    std::ofstream(path_, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
  }
  ~TempFile() { std::remove(path_.c_str()); }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The content as a gzip stream.
inline std::string gzipped(const std::string& content) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(content.size() + 100, '\0');
  std::string in = content;
  z.next_in = reinterpret_cast<Bytef*>(in.data());
  z.avail_in = static_cast<unsigned>(in.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<unsigned>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

}  // namespace berth::test
