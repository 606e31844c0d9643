#pragma once

#include <algorithm>
#include <string_view>

namespace berth::io {

/// Lines of positions in one text. Positions that are asked for in ascending order cost one pass in all.
class LineCounter {
 public:
  explicit LineCounter(std::string_view text) : begin_(text.data()), at_(text.data()) {}

  int line_of(const char* where) {
    if (where < at_) {
      at_ = begin_;
      line_ = 1;
    }
    line_ += static_cast<int>(std::count(at_, where, '\n'));
    at_ = where;
    return line_;
  }

 private:
  const char* begin_;
  const char* at_;
  int line_ = 1;
};

}  // namespace berth::io
