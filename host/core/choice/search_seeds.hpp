#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "host/core/choice/shape_pass.hpp"
#include "host/core/policy_api/kept_columns.hpp"
#include "host/core/policy_api/search_settings.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

class ShapeProblem;

/// Shapes that a search begins with besides the plan that prices chose: what runs, a fill by value for a GPU, and the best plan of each
/// island of the decision before. Memory is kept between searches.
class SearchSeeds {
 public:
  /// @param fill_order, current  as in the columns of the search
  void set(const StateImpl& state, const ShapeProblem& choice, const SearchSettings& settings, const PolicyState& kept,
           std::span<const std::int32_t> fill_order, std::span<const std::int32_t> current);
  std::int32_t n() const { return static_cast<std::int32_t>(n_); }
  const std::int32_t* option() const { return option_.data(); }  // [n * jobs] options
  const std::int32_t* order() const { return order_.data(); }    // [n * jobs]
  /// Stores the best of each island in a PolicyState. @param option  [islands * jobs] options
  void store(const ShapeProblem& choice, std::span<const std::int32_t> option, PolicyState& kept) const;

 private:
  void add_fill(const ChosenShapes& choice);
  void add_kept(const ShapeProblem& choice, const PolicyState& kept, std::int32_t islands);
  void begin_start();
  bool room() const { return n_ < most_; }

  std::vector<std::int32_t> option_, order_;
  std::size_t n_ = 0, most_ = 0, jobs_ = 0;
  JobsById by_id_;
  mutable std::vector<std::int64_t> values_;
  mutable std::string name_;
};

}  // namespace berth::core
