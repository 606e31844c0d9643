#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "berth/kernel/base/problem.hpp"
#include "berth/kernel/score/columns.hpp"
#include "berth/kernel/score/table.hpp"
#include "host/cpu/class_index.hpp"

namespace berth::cpu {

/// Whether equal nodes, domains and options are scored only once. It does not change the answer.
enum class Collapse : std::uint8_t { kOn, kOff };

/// Builds and owns the table of one scoring request. Keeps its memory between builds.
class ScoreTable {
 public:
  /// Compiles the request. `request.n` is at least 1.
  void build(const kernel::ProblemView& problem, const kernel::ScoreQuery& request, Collapse collapse);

  kernel::ScoreTableView view() const;
  std::int32_t demands() const { return static_cast<std::int32_t>(scored_.size()); }
  /// Room for the k best places of every demand.
  std::vector<kernel::BestPlace>& best() { return best_; }
  /// Writes the k best candidates of job i of the request, given the k best places of every demand.
  /// @param best  [demands * k]
  /// @param out   [k]
  void write_best(std::int32_t i, const kernel::BestPlace* best, kernel::CandidateRow* out) const;

 private:
  /// The needs of a demand, which all options with that demand share.
  struct DemandInfo {
    std::int32_t row_begin = -1, row_end = 0, filter = 0, by_threshold = 0;
    std::int64_t least_free = 0, least_cpu = 0, least_memory = 0;
  };
  struct OptionRequest {
    std::int32_t scored;
    std::int64_t gpu_time_ms;
  };

  void set_limits();
  void build_demands();
  void compile_demand(std::int32_t demand);
  std::int32_t part_of(std::int32_t topology, std::int32_t level);
  void build_kinds();
  void collapse_kinds();
  void add_kind(std::int32_t node);
  void build_node_places();
  void build_domain_places();
  void set_members(std::size_t n_places, const std::vector<std::int32_t>& place_of, std::int32_t first);
  void write_signature(std::int32_t domain, std::size_t part, std::vector<std::int32_t>& out);
  void add_cells();

  kernel::ProblemView problem_{};
  kernel::ScoreQuery request_{};
  Collapse collapse_ = Collapse::kOn;
  std::int64_t limit_ = 0;
  bool saturates_ = false;
  bool uses_cpu_ = false, uses_memory_ = false, uses_shares_ = false, all_thresholds_ = true;

  std::vector<DemandInfo> demands_;  // [n_demands]
  std::vector<std::int32_t> demands_used_;
  std::vector<std::int32_t> filters_;     // rows of the problem's filters, by row of this table
  std::vector<std::int32_t> filter_row_;  // [n_filters] row of this table, kNone
  std::vector<std::int64_t> untils_;      // distinct finite node_until, ascending
  std::vector<kernel::ScoreGroup> rows_;
  std::vector<kernel::ScoreDemand> scored_;
  std::vector<std::int32_t> scored_demand_;  // [demands]
  std::vector<OptionRequest> option_requests_;
  std::vector<std::int32_t> job_options_;  // [n + 1]

  std::vector<std::int32_t> node_kind_;      // [n_nodes]
  std::vector<std::int32_t> kind_node_;      // [kinds] a node of the kind
  std::vector<std::uint64_t> node_filters_;  // [filters / 64, rounded up][n_nodes] bits of the filters in use
  std::vector<std::int64_t> cpu_steps_, memory_steps_, room_scratch_;
  std::vector<std::int32_t> kind_free_, room_begin_, room_ppm_;
  std::vector<std::int64_t> kind_cpu_, kind_memory_, kind_until_, room_memory_;
  std::vector<std::uint64_t> kind_filter_;

  std::vector<std::pair<std::int32_t, std::int32_t>> parts_;  // (topology, level) of part i + 1
  std::vector<std::int64_t> place_cost_;
  std::vector<std::int32_t> member_begin_, members_;  // node ranks or domain ids of each place, ascending
  std::vector<std::int32_t> member_next_, domain_place_;
  std::vector<std::vector<std::int32_t>> signature_;        // [parts] cells of the current domain, see write_signature
  std::vector<std::vector<std::int32_t>> signatures_;       // [parts] of all places
  std::vector<std::vector<std::int32_t>> signature_begin_;  // [parts][places + 1]
  std::vector<std::int32_t> cell_begin_, item_begin_;
  std::vector<kernel::CellItem> items_;
  std::vector<std::pair<std::int32_t, std::int32_t>> cell_kinds_;  // (domain of the part, kind)
  std::vector<kernel::BestPlace> best_;
  ClassIndex index_;
};

}  // namespace berth::cpu
