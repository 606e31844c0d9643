#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/core/model/capacity.hpp"
#include "host/core/model/demands.hpp"

namespace berth {
class StateImpl;
struct Job;
}  // namespace berth

namespace berth::core {

/// Which jobs a policy consolidates, whatever its packing does with the others (docs/placement.md, section 10).
struct Consolidation {
  bool whole_nodes = true;             ///< on as few nodes as hold them; else only in one domain above the nodes
  bool measured = false;               ///< instead: in the widest domains in which they were not measured to be slower
  std::vector<std::string> scattered;  ///< models, as `plain` writes them, whose jobs are not consolidated

  /// Whether the job's model is none of those. A job without a model is consolidated.
  bool applies_to(const Job& job) const;
  /// A model's name in lower case, letters and digits only: "ResNet-50" is "resnet50".
  static std::string plain(std::string_view model);
  bool operator==(const Consolidation&) const = default;
};

/// Narrows the demands of consolidated jobs, so that placement, victims and reasons use the narrowed ones. Memory is
/// kept between decisions.
class Consolidator {
 public:
  /// @param options  [options of the problem] as the jobs request them; those of consolidated jobs are changed in
  /// place.
  void apply(const StateImpl& state, const Consolidation& rule, std::span<kernel::OptionRow> options);

 private:
  void begin(const StateImpl& state, const Consolidation& rule);
  std::int32_t close(const StateImpl& state, std::int32_t demand, std::int32_t from);
  bool holds(std::span<const std::int32_t> nodes, const kernel::GroupRow& row, std::int32_t whole) const;
  std::int32_t lowest_level(const kernel::GroupRow& row, std::int32_t whole, std::int32_t from);

  std::weak_ptr<const int> served_;
  std::uint64_t structure_ = 0;  // of the state that `known_` belongs to
  bool whole_nodes_ = true;
  std::vector<std::vector<std::int32_t>> known_;  // [levels][demands] consolidated from that level up, kNone: not known yet
  const kernel::ProblemView* problem_ = nullptr;
  Capacity total_;
  std::vector<std::int64_t> room_;  // [nodes] members of the current demand on an empty node
  std::vector<std::int32_t> nodes_;
};

}  // namespace berth::core
