#pragma once

#include <cstdint>

#include "berth/units.hpp"

/// A scoring request made dense (host/cpu/score_table.cpp): nodes that no job of the request can tell apart are one
/// *kind*, domains made of the same kinds are one *place*, and options that ask for the same are one *ask*.
/// Without collapsing there is one kind a node, one place a domain and one ask an option; the meaning is the same.
namespace berth::kernel {

/// Columns by kind of node.
struct KindView {
  std::int32_t n, n_words, n_filters;  // n_words = ceil(n / 64)
  const std::int32_t* free;            // [n] whole free GPUs
  const std::int64_t* cpu;             // [n] free milli-cores, kNoLimit: not modelled; null: nobody asks
  const std::int64_t* memory;          // [n] free bytes, kNoLimit: not modelled; null: nobody asks
  const TimeUs* until;                 // [n] a job must end by then, kNever: open end; null: all are
  const std::uint64_t* filter;         // [filters * n_words] bit = kind may be used
  const std::int32_t* room_begin;      // [n + 1] rows of the GPUs that may hold shares
  const std::int32_t* room_ppm;        // share left of each
  const std::int64_t* room_memory;     // bytes left of each, kNoLimit: not known
};

/// So many nodes of one kind.
struct CellItem {
  std::int32_t kind, count;
};

/// The candidates. Place p stands for domains of equal worth, of which `first member` ascends with p. At level 0
/// place p is kind p; above, a *part* splits each place into cells: part 0 has one cell a place, part i > 0 has the
/// intersections with the domains of one (facet, level) that some segment or spread names.
struct PlaceView {
  std::int32_t n, n_parts;         // n_parts 0: level 0
  const std::int64_t* cost;        // [n]; null: none
  const std::int32_t* cell_begin;  // [n_parts * (n + 1)] cells of each place, by part
  const std::int32_t* item_begin;  // [cells + 1]
  const CellItem* items;
};

/// A group row with members.
struct AskRow {
  std::int64_t members;
  std::int32_t gpus, share_ppm;
  std::int64_t cpu, memory, gpu_memory;
  std::int32_t segment_size, segment_part;  // size 0: none
  std::int32_t spread_most, spread_part;    // most 0: none
};

/// What one option asks for.
struct Ask {
  std::int32_t row_begin, row_end;
  std::int32_t filter;        // row of KindView::filter
  std::int32_t by_threshold;  // 1: level 0 and whole GPUs only: the three needs below say all
  std::int64_t gpus;          // whole GPUs in all
  std::int64_t need_free, need_cpu, need_memory;
  TimeUs ends;        // now + run, kNever: not known
  std::int64_t base;  // GPU-milliseconds that belong to every candidate of the ask
};

struct ScoreTableView {
  KindView kinds;
  PlaceView places;
  std::int32_t n_asks, n_rows, k;
  const AskRow* rows;  // [n_rows]
  const Ask* asks;     // [n_asks]
  std::int64_t leftover_weight;
  std::int64_t limit;         // scores saturate at +-limit
  std::int32_t by_threshold;  // 1: all asks are
  std::int32_t saturates;     // 0: no sum can leave int64 or pass the limit
};

/// One of the k best places of an ask, least (score, place) first.
struct AskBest {
  std::int64_t score;  // base + leftover_weight * leftover + cost, saturated
  std::int64_t leftover;
  std::int32_t place;  // kNone: no more places
  std::int32_t pad;
};

}  // namespace berth::kernel
