#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace berth::io::kai {

/// What could not be translated, counted by cause.
class Notes {
 public:
  /// @param what  Continues "3 pods"; must suit one `noun` and several.
  void count(std::string noun, std::string what, std::int64_t n = 1) {
    if (n > 0) counts_[{std::move(noun), std::move(what)}] += n;
  }
  std::vector<std::string> lines() const;

 private:
  std::map<std::pair<std::string, std::string>, std::int64_t> counts_;
};

}  // namespace berth::io::kai
