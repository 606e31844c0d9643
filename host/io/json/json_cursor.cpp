#include "host/io/json/json_cursor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "berth/error.hpp"
#include "host/core/base/escape_control.hpp"
#include "host/io/json/json_text.hpp"

namespace berth::io {
namespace {

constexpr std::size_t kShown = 60;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool ends_token(char c) { return is_space(c) || c == ',' || c == ']' || c == '}' || c == ':'; }

}  // namespace

JsonCursor::JsonCursor(std::string_view text, const std::string& name)
    : begin_(text.data()), p_(begin_), end_(begin_ + text.size()), mark_(begin_), name_(name) {
  const char* invalid = first_invalid_utf8(text);
  if (invalid != end_) {
    fail_at(invalid,
            fmt::format("byte {} of the file (0x{:02x}) is not valid UTF-8", invalid - begin_ + 1, static_cast<unsigned char>(*invalid)));
  }
  if (text.substr(0, 3) == "\xEF\xBB\xBF") p_ += 3;
  skip_space();
  if (p_ == end_) fail("the file is empty");
}

void JsonCursor::skip_space() {
  while (p_ != end_ && is_space(*p_)) ++p_;
}

const char* JsonCursor::next_mark() {
  skip_space();
  mark_ = p_;
  if (p_ == end_) fail_ended();
  return mark_;
}

JsonType JsonCursor::type() {
  switch (*next_mark()) {
    case '{':
      return JsonType::kObject;
    case '[':
      return JsonType::kArray;
    case '"':
      return JsonType::kString;
    case 't':
    case 'f':
      return JsonType::kBool;
    case 'n':
      return JsonType::kNull;
    default:
      return is_digit(*p_) || *p_ == '-' ? JsonType::kNumber : JsonType::kNone;
  }
}

void JsonCursor::open(char bracket, const char* what) {
  if (*next_mark() != bracket) fail_expected(what);
  if (depth_ == kMaxDepth) fail(fmt::format("nested deeper than {} levels", kMaxDepth));
  ++p_;
  frames_[static_cast<std::size_t>(depth_)] = Frame{};
  ++depth_;
}

bool JsonCursor::closes(char bracket) {
  skip_space();
  if (p_ == end_) fail_ended();
  if (*p_ != bracket) return false;
  ++p_;
  return true;
}

bool JsonCursor::next(char bracket) {
  skip_space();
  if (p_ == end_) fail_ended();
  if (*p_ == ',') {
    ++p_;
    return true;
  }
  if (*p_ == bracket) {
    ++p_;
    return false;
  }
  mark_ = p_;
  fail(fmt::format("expected ',' or '{}' after the value, not {}", bracket, shown()));
}

std::string_view JsonCursor::key() {
  Frame& frame = frames_[static_cast<std::size_t>(depth_ - 1)];
  if (*next_mark() != '"') {
    frame.key = {};
    fail(fmt::format("expected a field's name in quotes, not {}", shown()));
  }
  const char* at = mark_;
  std::string_view name = scan_string();
  if (name.data() == unescaped_.data()) name = escaped_keys_.emplace_back(name);
  frame.key = name;
  skip_space();
  mark_ = p_;
  if (p_ == end_) fail_ended();
  if (*p_ != ':') fail("expected ':' after the field's name");
  ++p_;
  mark_ = at;
  return name;
}

std::string_view JsonCursor::string() {
  if (*next_mark() != '"') fail_expected("a string");
  return scan_string();
}

std::string_view JsonCursor::scan_string() {
  const char* first = ++p_;
  for (; p_ != end_; ++p_) {
    const char c = *p_;
    if (c == '"') return {first, static_cast<std::size_t>(p_++ - first)};
    if (c == '\\') return unescape(first);
    if (static_cast<unsigned char>(c) < 0x20) fail_control(p_);
  }
  fail_ended();
}

std::string_view JsonCursor::unescape(const char* first) {
  unescaped_.assign(first, p_);
  while (p_ != end_) {
    const char c = *p_++;
    if (c == '"') return unescaped_;
    if (static_cast<unsigned char>(c) < 0x20) fail_control(p_ - 1);
    if (c != '\\') {
      unescaped_ += c;
      continue;
    }
    if (p_ == end_) break;
    const char e = *p_++;
    constexpr std::string_view kEscapes = "\"\\/bfnrt";
    constexpr std::string_view kMeaning = "\"\\/\b\f\n\r\t";
    const std::size_t i = kEscapes.find(e);
    if (i != std::string_view::npos) {
      unescaped_ += kMeaning[i];
    } else if (e == 'u') {
      std::uint32_t code = hex4();
      if (code >= 0xD800 && code < 0xDC00 && end_ - p_ >= 2 && p_[0] == '\\' && p_[1] == 'u') {
        p_ += 2;
        const std::uint32_t low = hex4();
        if (low < 0xDC00 || low > 0xDFFF) fail("a lone surrogate in an escape");
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      } else if (code >= 0xD800 && code <= 0xDFFF) {
        fail("a lone surrogate in an escape");
      }
      append_utf8(unescaped_, code);
    } else {
      fail(fmt::format("an unknown escape '\\{}' in a string", e));
    }
  }
  fail_ended();
}

std::uint32_t JsonCursor::hex4() {
  if (end_ - p_ < 4) fail_ended();
  std::uint32_t code = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = *p_++;
    const char lower = static_cast<char>(c | 0x20);
    if (!is_digit(c) && (lower < 'a' || lower > 'f')) fail("'\\u' in a string needs four hexadecimal digits");
    code = code * 16 + static_cast<std::uint32_t>(is_digit(c) ? c - '0' : lower - 'a' + 10);
  }
  return code;
}

bool JsonCursor::boolean() {
  const char c = *next_mark();
  if (c == 't')
    literal("true");
  else if (c == 'f')
    literal("false");
  else
    fail_expected("true or false");
  return c == 't';
}

void JsonCursor::null() {
  if (*next_mark() != 'n') fail_expected("null");
  literal("null");
}

void JsonCursor::literal(std::string_view word) {
  const std::string_view rest(p_, static_cast<std::size_t>(end_ - p_));
  if (rest.substr(0, word.size()) != word) fail_expected("a value");
  p_ += word.size();
  if (p_ != end_ && !ends_token(*p_)) fail_expected("a value");
}

std::string_view JsonCursor::scan_number() {
  const char* first = p_;
  const auto digits = [this] {
    const char* from = p_;
    while (p_ != end_ && is_digit(*p_)) ++p_;
    return p_ != from;
  };
  if (*p_ == '-') ++p_;
  const char* whole = p_;
  if (!digits()) fail_expected("a number");
  if (*whole == '0' && p_ - whole > 1) fail(fmt::format("a number must not begin with a zero: {}", shown()));
  if (p_ != end_ && *p_ == '.') {
    ++p_;
    if (!digits()) fail_expected("a number");
  }
  if (p_ != end_ && (*p_ | 0x20) == 'e') {
    ++p_;
    if (p_ != end_ && (*p_ == '+' || *p_ == '-')) ++p_;
    if (!digits()) fail_expected("a number");
  }
  if (p_ != end_ && !ends_token(*p_)) fail_expected("a number");
  return {first, static_cast<std::size_t>(p_ - first)};
}

// Fast path for up to 18 digits without an exponent. Otherwise leaves the cursor unchanged and returns false.
bool JsonCursor::short_decimal(int places, std::int64_t& value) {
  const char* p = p_;
  const char* const stop = end_ - p > 18 ? p + 18 : end_;
  const auto digits = [&](int most) {
    const char* from = p;
    for (; p != stop && is_digit(*p) && p - from < most; ++p) value = value * 10 + (*p - '0');
    return static_cast<int>(p - from);
  };
  const int whole = digits(18);
  if (whole == 0 || (*p_ == '0' && whole > 1)) return false;
  int left = places;
  if (left > 0 && p != stop && *p == '.') {
    ++p;
    const int n = digits(left);
    if (n == 0) return false;
    left -= n;
  }
  if (p == stop || !ends_token(*p) || whole + places > 18) return false;
  for (; left > 0; --left) value *= 10;
  p_ = p;
  return true;
}

std::int64_t JsonCursor::decimal(int places, std::int64_t least, std::int64_t most) {
  const char c = *next_mark();
  std::int64_t quick = 0;
  if (short_decimal(places, quick) && quick >= least && quick <= most) return quick;
  p_ = mark_;
  const char* what = places == 0 ? "an integer" : "a number";
  if (!is_digit(c) && c != '-') fail_expected(what);
  const std::string_view text = scan_number();
  std::int64_t value = 0;
  switch (scale_decimal(text, places, value)) {
    case DecimalError::kNone:
      break;
    case DecimalError::kTooManyDigits:
      if (places == 0) fail(fmt::format("expected an integer, not {}", shown()));
      fail(fmt::format("{} has more than {} digits after the point", shown(), places));
    case DecimalError::kTooLarge:
      fail(fmt::format("{} is too large", shown()));
  }
  if (value < least || value > most) {
    fail(fmt::format("{} is not within {} to {}", shown(), decimal_text(least, places), decimal_text(most, places)));
  }
  return value;
}

std::string_view JsonCursor::raw() {
  const char* first = next_mark();
  skip_value();
  return {first, static_cast<std::size_t>(p_ - first)};
}

void JsonCursor::skip_value() {
  switch (type()) {
    case JsonType::kObject:
      object([this](std::string_view) { skip_value(); });
      break;
    case JsonType::kArray:
      array([this] { skip_value(); });
      break;
    case JsonType::kString:
      string();
      break;
    case JsonType::kNumber:
      scan_number();
      break;
    case JsonType::kBool:
      boolean();
      break;
    case JsonType::kNull:
      null();
      break;
    case JsonType::kNone:
      fail_expected("a value");
  }
}

void JsonCursor::finish() {
  assert(depth_ == 0);
  skip_space();
  mark_ = p_;
  if (p_ != end_) fail(fmt::format("the document ends before this: {}", shown()));
}

bool JsonCursor::more() {
  skip_space();
  return p_ != end_;
}

std::string JsonCursor::shown() const {
  const std::string_view rest(mark_, static_cast<std::size_t>(end_ - mark_));
  if (rest.empty()) return "the end of the file";
  if (rest[0] == '{') return "an object";
  if (rest[0] == '[') return "a list";
  std::size_t n = 1;
  if (rest[0] == '"') {
    while (n < rest.size() && rest[n] != '"' && rest[n] != '\n') n += rest[n] == '\\' ? 2 : 1;
    n = std::min(n + 1, rest.size());
  } else {
    while (n < rest.size() && !ends_token(rest[n])) ++n;
  }
  return n <= kShown ? std::string(rest.substr(0, n)) : cut_utf8(rest.substr(0, n), kShown) + "...";
}

void JsonCursor::fail_expected(const char* what) {
  const std::string value = shown();
  const bool special = value == "NaN" || value == "nan" || value == "Infinity" || value == "-Infinity" || value == "inf" || value == "-inf";
  fail(fmt::format("expected {}, not {}{}", what, value, special ? ", which JSON does not have" : ""));
}

void JsonCursor::fail_control(const char* where) const {
  const auto c = static_cast<unsigned char>(*where);
  fail_at(where, fmt::format("a control character inside a string: {}", c == 0 ? "NUL" : fmt::format("U+{:04X}", c)));
}

void JsonCursor::fail_ended() const { fail_at(end_, "the file ends in the middle of a value"); }

std::string JsonCursor::pointer() const {
  std::string text;
  for (int i = 0; i < depth_; ++i) {
    const Frame& frame = frames_[static_cast<std::size_t>(i)];
    if (frame.index >= 0)
      text += fmt::format("/{}", frame.index);
    else if (frame.key.data() != nullptr)
      text.append("/").append(pointer_token(cut_utf8(frame.key, kShown)));
  }
  return text;
}

void JsonCursor::fail_at(const char* where, const std::string& problem) const {
  const auto line = 1 + std::count(begin_, where, '\n');
  throw InputError(core::escape_control(name_), core::escape_control(pointer()), static_cast<int>(line), core::escape_control(problem));
}

}  // namespace berth::io
