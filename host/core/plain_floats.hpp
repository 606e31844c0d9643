#pragma once

#include <cfenv>

namespace berth::core {

/// While it lives, this thread rounds to nearest and keeps small numbers: what doubles decide must not depend on the modes of the host
/// program, which come back afterwards.
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
