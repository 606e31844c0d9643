#include "host/cli/base/command_line.hpp"

#include <string_view>

namespace berth::cli {
namespace {

std::string remembered_line;

bool is_plain(std::string_view word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+";
  return !word.empty() && word.find_first_not_of(kPlain) == word.npos;
}

std::string quoted_word(std::string_view word) {
  if (is_plain(word)) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

void remember_command_line(std::span<char* const> arguments) {
  remembered_line = "berth";
  for (std::size_t i = 1; i < arguments.size(); ++i) remembered_line += " " + quoted_word(arguments[i]);
}

std::string command_line() { return remembered_line; }

}  // namespace berth::cli
