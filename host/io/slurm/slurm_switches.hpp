#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "berth/cluster.hpp"

namespace berth::io {

/// Which level of switches a count of leaf switches stands for, as `--switches=COUNT` asks for.
class SlurmSwitches {
 public:
  struct Level {
    std::string name;         ///< empty: there are no switches
    std::int64_t leaves = 0;  ///< the most leaf switches below one switch of it
  };
  explicit SlurmSwitches(std::span<const Domain> domains);
  /// The level whose switches have the most leaf switches, but no more than that.
  Level level_of(std::int64_t switches) const;

 private:
  std::map<std::string, std::int64_t> leaves_;  // by level, the most of a switch
};

}  // namespace berth::io
