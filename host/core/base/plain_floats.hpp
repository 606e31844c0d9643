#pragma once

#include <cfenv>

namespace berth::core {

/// Sets this thread to round to nearest and keep subnormal numbers, so that results do not depend on the host program's
/// modes. The destructor restores them.
class PlainFloats {
 public:
  PlainFloats() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~PlainFloats() { std::fesetenv(&before_); }
  PlainFloats(const PlainFloats&) = delete;
  PlainFloats& operator=(const PlainFloats&) = delete;

 private:
  std::fenv_t before_;
};

}  // namespace berth::core
