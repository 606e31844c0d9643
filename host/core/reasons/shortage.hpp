#pragma once

#include <cstdint>
#include <vector>

#include "berth/kernel/base/problem.hpp"
#include "berth/plan.hpp"
#include "host/core/model/capacity.hpp"
#include "host/core/reasons/smallest_change.hpp"

namespace berth::core {

/// Why one demand does not fit into what is free now: the first cause by precedence, with evidence. Checks necessary
/// conditions only. For demands with `exact` they are also sufficient, so code kNone means that the demand fits.
class Shortage {
 public:
  /// `total` gives all cores and memory; with the GPUs of open nodes, it is what could become free at all.
  void begin(const kernel::ProblemView& problem, const SupplyView& free, const SupplyView& total);
  /// `end`: instant at which the job would end, kNever: not known. Sets code, level, topology, where, gpu_type, asked,
  /// best, missing.
  Reason find(std::int32_t demand, TimeUs end);
  /// For a demand without a cause from find(): kFragmented, with the free GPUs where it must be placed; `free` 0: it
  /// would fit now.
  Reason joint(std::int32_t demand);

 private:
  struct Counts {
    std::int64_t at[5];  // members by Stage
  };
  struct Piece {
    std::int32_t outer, inner;  // required domain (0: none), segment or spread domain
    std::int64_t members;
  };

  void look_at(const kernel::DemandRow& demand);
  bool some_nodes(const kernel::DemandRow& demand) const;
  Counts count(const kernel::GroupRow& group) const;
  Change change_for(const kernel::GroupRow& group, bool may_name, std::int32_t topology = 0, std::int32_t level = -1,
                    std::int32_t where = -1) const;
  void be_apart(const kernel::GroupRow& group, Reason& reason) const;
  bool lacks_only(const Capacity::Row& row, const kernel::GroupRow& group, bool cpu) const;
  Reason of_pieces(const kernel::GroupRow& group, const Counts& counts, bool alone) const;
  bool required(const kernel::GroupRow* rows, std::int32_t row, bool alone, Reason& reason);
  std::int32_t largest(std::int32_t topology, std::int32_t level, std::int32_t begin, std::size_t n, std::int32_t first);
  bool spread_out(const kernel::GroupRow& group, Reason& reason);
  std::int64_t place(std::int32_t topology, std::int32_t level, std::int32_t node) const;

  const kernel::ProblemView* problem_ = nullptr;
  Capacity free_, total_;
  TimeUs end_ = kNever;
  std::int32_t filter_ = 0;
  std::int64_t gpus_ = 0, of_type_ = 0;      // free on nodes that pass the filter; on all nodes of the GPU type
  std::vector<std::int32_t> of_type_nodes_;  // [n_types]
  std::vector<Capacity::Row> rows_;          // that pass the filter
  std::vector<std::int64_t> raw_, least_;    // [domains of a level, or nodes]: free GPUs; GPUs placeable by the scarcest row
  std::vector<Piece> pieces_;
};

}  // namespace berth::core
