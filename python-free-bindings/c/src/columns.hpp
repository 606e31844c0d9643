#pragma once

#include <berth.h>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "berth/error.hpp"
#include "berth/units.hpp"

/// Access to the caller's arrays: counts and offsets are checked before anything is read.
namespace berth::c {

/// @throws InvalidArgument when a count is beyond its limit.
inline std::size_t checked_count(std::uint64_t n, std::int64_t most, const char* name) {
  if (n > static_cast<std::uint64_t>(most)) {
    throw InvalidArgument(std::string(name) + " is " + std::to_string(n) + "; at most " + std::to_string(most));
  }
  return static_cast<std::size_t>(n);
}

/// A column that may be missing.
template <class T>
T value(const T* column, std::size_t row, T otherwise) {
  return column == nullptr ? otherwise : column[row];
}

/// @throws InvalidArgument when rows exist and the column is missing.
template <class T>
const T* required_column(const T* column, std::size_t n, const char* name) {
  if (column == nullptr && n > 0) throw InvalidArgument(std::string(name) + " is null");
  return column;
}

/// n texts of the caller.
class Texts {
 public:
  /// @throws InvalidArgument for offsets that do not ascend, or bytes that are missing.
  Texts(const berth_texts& texts, std::size_t n, const char* name);

  bool given() const { return texts_.strings != nullptr || texts_.begin != nullptr; }
  std::string_view operator[](std::size_t i) const {
    if (texts_.strings != nullptr) return texts_.strings[i] == nullptr ? std::string_view() : std::string_view(texts_.strings[i]);
    if (texts_.begin == nullptr) return {};
    return {texts_.bytes + texts_.begin[i], static_cast<std::size_t>(texts_.begin[i + 1] - texts_.begin[i])};
  }
  std::string text(std::size_t i) const { return std::string((*this)[i]); }

 private:
  berth_texts texts_;
};

/// Offsets [n + 1] of rows into a table of n_rows. @throws InvalidArgument when they do not ascend or are out of range.
class Rows {
 public:
  Rows(const std::uint64_t* begin, std::size_t n, std::uint64_t n_rows, const char* name);
  bool given() const { return begin_ != nullptr; }
  std::size_t begin(std::size_t i) const { return begin_ == nullptr ? 0 : static_cast<std::size_t>(begin_[i]); }
  std::size_t end(std::size_t i) const { return begin_ == nullptr ? 0 : static_cast<std::size_t>(begin_[i + 1]); }

 private:
  const std::uint64_t* begin_;
};

/// The first of a range of n rows. @throws InvalidArgument when some do not exist.
std::size_t checked_rows(std::uint64_t first, std::uint64_t count, std::size_t n);

/// A document of the caller. @throws InvalidArgument when it is null or beyond 512 MiB.
std::string_view document(const char* json, std::size_t size, const char* name);

/// A zero-terminated text for the caller, to be freed by berth_free.
void give_text(std::string_view text, char** out, std::size_t* size);

}  // namespace berth::c
