#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/job.hpp"

namespace berth::core {

/// Collects sentences up to a limit. Text is made only when something is wrong.
class Violations {
 public:
  Violations(std::vector<std::string>& out, std::size_t most) : out_(out), most_(most) {}

  bool full() const { return out_.size() >= most_; }
  template <class... Args>
  void add(fmt::format_string<Args...> text, Args&&... args) {
    if (!full()) out_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  /// "job ID: ..."
  template <class... Args>
  void of(const Job& job, fmt::format_string<Args...> text, Args&&... args) {
    if (!full()) out_.push_back("job " + job.id + ": " + fmt::format(text, std::forward<Args>(args)...));
  }

 private:
  std::vector<std::string>& out_;
  std::size_t most_;
};

/// "1 GPU", "2 GPUs".
inline std::string counted(std::int64_t n, std::string_view one) { return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s"); }

}  // namespace berth::core
