#include "host/io/json/json_token_cap.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "berth/error.hpp"

namespace berth::io {
namespace {

int lines_in(std::string_view text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }

}  // namespace

void JsonTokenCap::check(std::size_t more) const {
  if (token_bytes_ + more > kMostTokenBytes) {
    throw InputError(name_, "", token_line_,
                     fmt::format("a {} of more than {} MiB begins here; Berth reads none that long", in_text_ ? "string" : "token",
                                 kMostTokenBytes >> 20));
  }
}

// From `at` behind the end of the string. @returns npos where it does not end in this piece.
std::size_t JsonTokenCap::leave_text(std::string_view bytes, std::size_t at) {
  for (;;) {
    const std::size_t quote = bytes.find('"', at), end = std::min(quote, bytes.size());
    std::size_t run = end;
    while (run > at && bytes[run - 1] == '\\') --run;
    const bool escaped = ((end - run) % 2 != 0) != (run == at && escaped_);
    escaped_ = quote == std::string_view::npos && escaped;
    if (quote == std::string_view::npos) return quote;
    at = quote + 1;
    if (!escaped) return at;
  }
}

void JsonTokenCap::feed(std::string_view bytes) {
  std::size_t at = 0;
  for (;;) {
    const std::size_t begin = at;
    if (in_text_) {
      at = leave_text(bytes, at);
      if (at == std::string_view::npos) return end_of_piece(bytes, begin);
      check(at - begin - 1);
      in_text_ = false;
    } else {
      const std::size_t quote = bytes.find('"', at);
      if (quote == std::string_view::npos) {
        // Between strings only the last number of a piece can go on.
        const std::size_t last = bytes.find_last_of(" \t\r\n,:{}[]");
        const bool goes_on = last == std::string_view::npos || last < begin;
        if (begin > 0 || !goes_on) token_bytes_ = 0;
        return end_of_piece(bytes, goes_on ? begin : last + 1);
      }
      in_text_ = true;
      escaped_ = false;
      at = quote + 1;
    }
    token_bytes_ = 0;
  }
}

// The token that is open began at `at`, or before this piece.
void JsonTokenCap::end_of_piece(std::string_view bytes, std::size_t at) {
  if (token_bytes_ == 0) token_line_ = line_ + lines_in(bytes.substr(0, at));
  line_ += lines_in(bytes);
  check(bytes.size() - at);
  token_bytes_ += bytes.size() - at;
}

}  // namespace berth::io
