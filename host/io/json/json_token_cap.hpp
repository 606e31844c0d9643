#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace berth::io {

/// The longest string or number that a JSON document may hold, as it stands in the file.
inline constexpr std::size_t kMostTokenBytes = std::size_t{16} << 20;

/// Refuses a JSON document as soon as one of its strings or numbers is too long, while the document comes in pieces: a few packed kilobytes
/// can hold gigabytes of one string.
class JsonTokenCap {
 public:
  /// @param name  of the file, for errors.
  explicit JsonTokenCap(std::string name) : name_(std::move(name)) {}

  /// @throws InputError with the line on which the token begins.
  void feed(std::string_view bytes);

 private:
  std::size_t leave_text(std::string_view bytes, std::size_t at);
  void end_of_piece(std::string_view bytes, std::size_t at);
  void check(std::size_t more) const;

  std::string name_;
  bool in_text_ = false, escaped_ = false;
  std::size_t token_bytes_ = 0;  // of the token that is open, in earlier pieces
  int line_ = 1, token_line_ = 1;
};

}  // namespace berth::io
