#include "host/io/json/json_line.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>

#include "host/io/json/json_cursor.hpp"
#include "host/io/json/json_text.hpp"

namespace berth::io {
namespace {

// Removes the first token from a pointer, still escaped.
std::string_view take_token(std::string_view& pointer) {
  pointer.remove_prefix(1);
  const std::string_view token = pointer.substr(0, pointer.find('/'));
  pointer.remove_prefix(token.size());
  return token;
}

// Moves `at` to the value that the rest of the pointer names, as far as it exists.
void pass(JsonCursor& in, std::string_view pointer, const char*& at) {
  const JsonType type = in.type();
  at = in.mark();
  if (pointer.empty() || (type != JsonType::kObject && type != JsonType::kArray)) {
    in.raw();
    return;
  }
  const std::string_view token = take_token(pointer);
  const auto visit = [&](bool here) {
    if (here)
      pass(in, pointer, at);
    else
      in.raw();
  };
  if (type == JsonType::kObject) {
    in.object([&](std::string_view key) { visit(pointer_token(key) == token); });
    return;
  }
  std::int64_t index = -1, i = 0;
  std::from_chars(token.data(), token.data() + token.size(), index);
  in.array([&] { visit(i++ == index); });
}

}  // namespace

int line_of(std::string_view text, std::string_view pointer) {
  const std::string name;
  JsonCursor in(text, name);
  const char* at = text.data();
  pass(in, pointer, at);
  return static_cast<int>(1 + std::count(text.data(), at, '\n'));
}

std::string problem_of(const InputError& error) {
  // what() is "file:line: pointer: problem".
  std::string_view problem = error.what();
  problem.remove_prefix(error.file().size() + (error.line() > 0 ? 1 + std::to_string(error.line()).size() : 0) + 2);
  if (!error.pointer().empty()) problem.remove_prefix(error.pointer().size() + 2);
  return std::string(problem);
}

InputError with_line(const InputError& error, std::string_view text) {
  const int line = error.line() > 0 ? error.line() : line_of(text, error.pointer());
  return InputError(error.file(), error.pointer(), line, problem_of(error));
}

}  // namespace berth::io
