#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "host/io/json/json_number.hpp"

namespace berth::io {

enum class JsonType : std::uint8_t { kObject, kArray, kString, kNumber, kBool, kNull, kNone };

/// Reads a JSON text once, value by value, and tracks its position.
///
/// Values are requested by type. Numbers are exact integers read from their text (never through a double).
/// Every error is an InputError with line, JSON pointer and value, which are computed only then.
/// The text must outlive the cursor.
class JsonCursor {
 public:
  static constexpr int kMaxDepth = 64;  ///< of nested objects and arrays

  /// @throws InputError when the text is empty or not UTF-8.
  JsonCursor(std::string_view text, const std::string& name);

  /// Type of the next value, which is not consumed.
  JsonType type();

  /// Calls on_field(key) for each field; it must consume exactly one value.
  template <class OnField>
  void object(OnField&& on_field) {
    open('{', "an object");
    [[maybe_unused]] const int depth = depth_;
    if (!closes('}')) {
      do on_field(key());
      while (next('}'));
    }
    assert(depth_ == depth);
    --depth_;
  }

  /// Calls on_element() for each element; it must consume exactly one value.
  template <class OnElement>
  void array(OnElement&& on_element) {
    open('[', "a list");
    Frame& frame = frames_[static_cast<std::size_t>(depth_ - 1)];
    frame.index = 0;
    [[maybe_unused]] const int depth = depth_;
    if (!closes(']')) {
      do {
        on_element();
        ++frame.index;
      } while (next(']'));
    }
    assert(depth_ == depth);
    --depth_;
  }

  /// Reads a string. The view is valid until the next call of the cursor.
  std::string_view string();
  bool boolean();
  /// Reads a number as number * 10^places, exactly. @throws InputError when it is not within [least, most] after scaling.
  std::int64_t decimal(int places, std::int64_t least, std::int64_t most);
  std::int64_t integer(std::int64_t least, std::int64_t most) { return decimal(0, least, most); }
  void null();
  /// Skips any value. @returns its text, unchanged.
  std::string_view raw();

  /// Requires that only white space follows.
  void finish();

  /// Whether anything but white space follows, such as another document.
  bool more();
  /// Skips bytes that are not JSON.
  void skip(std::size_t bytes) {
    assert(bytes <= rest().size());
    p_ += bytes;
  }

  /// Bytes not read yet.
  std::string_view rest() const { return {p_, static_cast<std::size_t>(end_ - p_)}; }

  /// Of the input, for errors.
  const std::string& name() const { return name_; }
  /// The whole text.
  std::string_view text() const { return {begin_, static_cast<std::size_t>(end_ - begin_)}; }
  /// Start of the value or key read last, for errors found later.
  const char* mark() const { return mark_; }
  /// Advances to the next value and returns its start.
  const char* next_mark();
  [[noreturn]] void fail(const std::string& problem) const { fail_at(mark_, problem); }
  [[noreturn]] void fail_at(const char* where, const std::string& problem) const;
  /// The start of the value at the mark, cut to a readable length.
  std::string shown() const;

 private:
  struct Frame {
    std::string_view key;
    std::int64_t index = -1;  // of an array; -1: an object
  };

  void skip_space();
  void open(char bracket, const char* what);
  bool closes(char bracket);
  bool next(char bracket);
  std::string_view key();
  std::string_view scan_string();
  std::string_view unescape(const char* first);
  std::uint32_t hex4();
  std::string_view scan_number();
  bool short_decimal(int places, std::int64_t& value);
  void skip_value();
  void literal(std::string_view word);
  [[noreturn]] void fail_expected(const char* what);
  [[noreturn]] void fail_control(const char* where) const;
  [[noreturn]] void fail_ended() const;
  std::string pointer() const;

  const char* begin_;
  const char* p_;
  const char* end_;
  const char* mark_;
  const std::string& name_;
  int depth_ = 0;
  std::array<Frame, kMaxDepth> frames_;
  std::string unescaped_;
  std::deque<std::string> escaped_keys_;  // keys with escapes; they live as long as the cursor
};

}  // namespace berth::io
