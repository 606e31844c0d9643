#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace berth::io::kai {

/// What did not map, counted by cause.
class Notes {
 public:
  void count(const std::string& cause, std::int64_t n = 1) {
    if (n > 0) counts_[cause] += n;
  }
  std::vector<std::string> lines() const;

 private:
  std::map<std::string, std::int64_t> counts_;
};

}  // namespace berth::io::kai
