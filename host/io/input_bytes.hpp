#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace berth::io {

/// The bytes of a file, or of standard input for "-", in order. Gzip is unpacked, all members of it; that a file is packed tell its
/// first two bytes, not its name.
class InputBytes {
 public:
  /// @throws EnvironmentError when it cannot be opened or read.
  explicit InputBytes(const std::string& path);
  ~InputBytes();
  InputBytes(const InputBytes&) = delete;
  InputBytes& operator=(const InputBytes&) = delete;

  /// The next bytes, at most `most` of them. @returns how many; 0 at the end.
  /// @throws EnvironmentError when reading fails, InputError for gzip data that is damaged, cut, or followed by something else.
  std::size_t read(char* to, std::size_t most);

  /// The first of the next bytes that is no white space, all of which stays to be read; '\0' when there is none.
  char peek();

  /// Bytes that a plain file has; 0 when that is not known beforehand.
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
  std::string ahead_;           // looked at, not yet read
};

}  // namespace berth::io
