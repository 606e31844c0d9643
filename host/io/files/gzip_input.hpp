#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace berth::io {

/// The bytes of a file, or of standard input for "-", in order. All members of a gzip file are unpacked; its first two
/// bytes identify it, not its name.
class GzipInput {
 public:
  /// @throws EnvironmentError when it cannot be opened or read.
  explicit GzipInput(const std::string& path);
  ~GzipInput();
  GzipInput(const GzipInput&) = delete;
  GzipInput& operator=(const GzipInput&) = delete;

  /// The next bytes, at most `most`. @returns how many; 0 at the end.
  /// @throws EnvironmentError when reading fails, InputError for gzip data that is damaged, truncated, or followed by
  /// other data.
  std::size_t read(char* to, std::size_t most);

  /// The next byte that is no white space, without consuming it; '\0' when there is none.
  char peek();

  /// Size of a plain file in bytes; 0 when it is not known beforehand.
  std::size_t size() const { return size_; }
  /// The path, or "standard input".
  const std::string& name() const { return name_; }

 private:
  struct Gzip;

  std::size_t next(char* to, std::size_t most);
  bool fill();
  std::size_t unpack(char* to, std::size_t most);
  bool another_member();
  [[noreturn]] void damaged(const std::string& problem) const;

  std::string name_;
  int fd_;
  std::size_t size_ = 0;
  std::unique_ptr<char[]> raw_;  // as in the file
  std::size_t at_ = 0, end_ = 0;
  std::unique_ptr<Gzip> gzip_;  // null: a plain file
  std::string ahead_;           // peeked, not yet read
};

}  // namespace berth::io
