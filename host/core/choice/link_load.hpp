#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "berth/plan.hpp"
#include "host/core/network/links.hpp"
#include "host/core/network/traffic.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// Load of the links between nodes by the gangs of a plan, where their bandwidth is stated: the part of the time for which
/// each gang needs a link, by its traffic (docs/traffic.md). The shared-link model of Crux (SIGCOMM'24) without its paths.
/// Memory is kept between plans.
class LinkLoad {
 public:
  void set(const StateImpl& state, const Plan& plan);
  /// The greatest load of the links that a decision's gang uses, in millionths of the time; 0: it uses no links.
  std::int64_t of(std::size_t decision) const;

 private:
  void begin(const StateImpl& state);
  void add(const StateImpl& state, const Plan& plan, const Decision& decision);

  std::weak_ptr<const int> served_;
  std::uint64_t structure_ = 0;  // of the state that the links belong to
  std::unique_ptr<NetworkLinks> links_;
  std::unique_ptr<Traffic> traffic_;
  std::vector<std::int64_t> load_;       // [links]
  std::vector<std::int32_t> link_;       // of all gangs, one after another
  std::vector<std::size_t> link_begin_;  // [decisions + 1]
};

}  // namespace berth::core
