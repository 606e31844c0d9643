#pragma once

#include <cstdint>

#include "berth/kernel/base/columns.hpp"

#include "berth/units.hpp"

/// A scoring request in dense form (host/cpu/score_table.cpp).
/// Nodes that no job of the request can distinguish are one *kind*. Domains made of the same kinds are one *place*.
/// Options with equal requests share one *demand*.
/// Without collapsing there is one kind per node, one place per domain and one demand per option; the result is the same.
namespace berth::kernel {

/// Columns by kind of node.
struct KindView {
  std::int32_t n, n_words, n_filters;  // n_words = ceil(n / 64)
  const std::int32_t* free;            // [n] whole free GPUs
  const std::int64_t* cpu;             // [n] free milli-cores, kNoLimit: not modelled; null: no demand needs them
  const std::int64_t* memory;          // [n] free bytes, kNoLimit: not modelled; null: no demand needs them
  const TimeUs* until;                 // [n] a job must end by then, kNever: no end; null: no kind has an end
  const std::uint64_t* filter;         // [filters * n_words] bit = the kind is allowed
  const std::int32_t* room_begin;      // [n + 1] rows of the GPUs that may hold shares
  const std::int32_t* room_ppm;        // share left of each
  const std::int64_t* room_memory;     // bytes left of each, kNoLimit: not known
};

/// A number of nodes of one kind.
struct CellItem {
  std::int32_t kind, count;
};

/// The candidates. Place p represents domains that are equal for scoring; their `first member` ascends with p.
/// At level 0, place p is kind p. Above, a *part* splits each place into cells.
/// Part 0 has one cell per place. Part i > 0 intersects places with the domains of one (topology, level) of some segment or spread.
struct PlaceView {
  std::int32_t n, n_parts;         // n_parts 0: level 0
  const std::int64_t* cost;        // [n]; null: none
  const std::int32_t* cell_begin;  // [n_parts * (n + 1)] cells of each place, by part
  const std::int32_t* item_begin;  // [cells + 1]
  const CellItem* items;
};

/// A group row with members.
struct ScoreGroup {
  std::int64_t members;
  std::int32_t gpus, share_ppm;
  std::int64_t cpu, memory, gpu_memory;
  std::int32_t segment_size, segment_part;  // size 0: none
  std::int32_t spread_most, spread_part;    // most 0: none
};

/// The demand of one option.
struct ScoreDemand {
  std::int32_t row_begin, row_end;
  std::int32_t filter;        // row of KindView::filter
  std::int32_t by_threshold;  // 1: level 0 and whole GPUs only: the three minima below suffice
  std::int64_t gpus;          // total of whole GPUs
  std::int64_t least_free, least_cpu, least_memory;
  TimeUs ends;        // now + run, kNever: not known
  std::int64_t base;  // GPU-milliseconds added to every candidate of the demand
};

struct ScoreTableView {
  KindView kinds;
  PlaceView places;
  std::int32_t n_demands, n_rows, k;
  const ScoreGroup* rows;      // [n_rows]
  const ScoreDemand* demands;  // [n_demands]
  std::int64_t leftover_weight;
  std::int64_t limit;         // scores saturate at +-limit
  std::int32_t by_threshold;  // 1: all demands are by threshold
  std::int32_t saturates;     // 0: no sum can overflow int64 or exceed the limit
};

/// One of the k best places of a demand, lowest (score, place) first.
struct BestPlace {
  std::int64_t score;  // base + leftover_weight * leftover + cost, saturated
  std::int64_t leftover;
  std::int32_t place;  // kNone: no more places
  std::int32_t pad;
};

// for_each_column: see base/columns.hpp.

template <class Visit, ViewOf<ScoreTableView>... Views>
void for_each_column(const ScoreTableView& t, Visit&& visit, Views&... views) {
  const KindView& kinds = t.kinds;
  const std::int64_t n = kinds.n, rooms = kinds.room_begin[kinds.n];
  visit(n, views.kinds.free...);
  visit(n, views.kinds.cpu...);
  visit(n, views.kinds.memory...);
  visit(n, views.kinds.until...);
  visit(std::int64_t{kinds.n_filters} * kinds.n_words, views.kinds.filter...);
  visit(n + 1, views.kinds.room_begin...);
  visit(rooms, views.kinds.room_ppm...);
  visit(rooms, views.kinds.room_memory...);
  const PlaceView& places = t.places;
  const std::int64_t all_cells = std::int64_t{places.n_parts} * (places.n + 1);
  const std::int64_t cells = all_cells == 0 ? 0 : places.cell_begin[all_cells - 1];
  visit(std::int64_t{places.n}, views.places.cost...);
  visit(all_cells, views.places.cell_begin...);
  visit(all_cells == 0 ? 0 : cells + 1, views.places.item_begin...);
  visit(all_cells == 0 ? 0 : std::int64_t{places.item_begin[cells]}, views.places.items...);
  visit(std::int64_t{t.n_rows}, views.rows...);
  visit(std::int64_t{t.n_demands}, views.demands...);
}
static_assert(sizeof(ScoreTableView) == 176, "ScoreTableView changed: list its new columns above, then change this number");

}  // namespace berth::kernel
