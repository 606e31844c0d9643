#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "host/core/policy_api/objective.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/core/policy_api/shape_policy.hpp"
#include "host/core/policy_api/shape_rule.hpp"

namespace berth::core {

/// The policy of the last question; created again when another is requested.
struct ChosenPolicy {
  const PolicyEntry* entry = nullptr;
  Params params;
  std::unique_ptr<QueuePolicy> policy;  // null: it chooses shapes
  ChoiceSettings choice;
  std::unique_ptr<ShapePolicy> shapes;  // null: it orders jobs, or prices choose
  PassRules rules{};
  ShapeRule shape{};          // of a policy that orders jobs
  std::uint64_t version = 0;  // counts the policies created: addresses repeat, this does not

  /// @throws InvalidArgument for an unknown policy or parameter; the earlier policy then stays.
  void choose(const std::string& name, const Params& wanted) {
    if (entry != nullptr && entry->info.name == name && params == wanted) return;
    const PolicyEntry& found = find_policy(name);
    const PassRules found_rules = pass_rules(found, wanted);
    const ShapeRule found_shape = shape_rule(found, wanted);
    Params copy = wanted;
    const ChoiceSettings found_choice = found.choice != nullptr ? found.choice(wanted) : ChoiceSettings{};
    std::unique_ptr<ShapePolicy> found_shapes = found.shapes != nullptr ? found.shapes(wanted) : nullptr;
    policy = found.make != nullptr ? found.make(wanted) : nullptr;
    choice = found_choice;
    shapes = std::move(found_shapes);
    rules = found_rules;
    shape = found_shape;
    entry = &found;
    params.swap(copy);
    ++version;
  }
};

}  // namespace berth::core
