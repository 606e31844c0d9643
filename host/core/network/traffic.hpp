#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/job.hpp"
#include "berth/plan.hpp"
#include "host/core/model/members_at_work.hpp"
#include "host/core/network/links.hpp"

namespace berth::core {

/// What a gang sends over a link in one step, in the direction that carries more.
struct LinkBytes {
  std::int32_t link;
  std::int64_t bytes;
  bool operator==(const LinkBytes&) const = default;
};

/// The traffic of placed gangs on the links of a state. docs/simulation-reference.md has the formulas. Memory is kept between gangs.
class Traffic {
 public:
  Traffic(const StateView& state, const NetworkLinks& links) : state_(state), links_(links) {}

  /// One row for each link with a known bandwidth that the gang uses, by link. Empty where the gang is on one node or in one
  /// NVLink domain, or where nothing is known of its traffic.
  ///
  /// The gradients go around a ring of the nodes in their order (docs/simulation-reference.md): every node sends 2 (n - 1) / n of them,
  /// and the ring leaves every domain below the level that it spans once.
  /// O(nodes of the gang * levels).
  std::span<const LinkBytes> of(const Job& job, const Shape& shape, std::span<const PlanEntry> entries);

 private:
  void add_domains(std::int64_t bytes);
  void add(std::int32_t link, std::int64_t bytes);

  StateView state_;
  const NetworkLinks& links_;
  std::vector<NodeGpus> nodes_;
  std::vector<LinkBytes> rows_;
};

}  // namespace berth::core
