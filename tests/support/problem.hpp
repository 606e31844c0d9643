#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "berth/kernel/base/problem.hpp"
#include "host/backend/backend.hpp"

/// Owners of the columns behind the views of berth/kernel/base/problem.hpp, for tests.
namespace berth::test {

struct TopologyColumns {
  std::int32_t levels = 2;
  std::vector<std::int32_t> order, node_domain;
  std::array<std::int32_t, kMaxLevels + 1> level_begin{};
};

/// All columns of one problem. Create it with ProblemBuilder or random_problem(); tests may change columns afterwards.
struct Problem {
  std::vector<std::int32_t> node_type;
  std::vector<std::uint64_t> node_free, node_open, node_spare;
  std::vector<std::int64_t> node_cpu, node_memory, node_until;
  std::vector<std::uint8_t> node_sharing;
  std::vector<std::int32_t> inner_begin;
  std::vector<std::uint64_t> inner_mask;
  std::vector<std::int32_t> gpu_begin, gpu_used_ppm;
  std::vector<std::int64_t> gpu_used_memory;
  std::vector<std::int64_t> type_memory;
  std::array<TopologyColumns, 5> topology;
  std::vector<std::int32_t> domain_first, domain_last, domain_child_first, domain_child_last, domain_parent;
  std::vector<std::uint8_t> domain_named;
  std::vector<std::uint64_t> filter_words;
  std::int32_t n_filters = 0;
  std::vector<kernel::DemandRow> demands;
  std::vector<kernel::GroupRow> groups;
  std::vector<std::int32_t> option_begin;
  std::vector<kernel::OptionRow> options;
  std::vector<std::int32_t> job_queue;
  std::vector<std::int32_t> queue_parent;
  std::vector<std::int64_t> queue_cap, queue_used;
  std::vector<std::int64_t> queue_kept;  // empty: no queue keeps anything
  std::vector<std::int32_t> held_begin, held_type;
  std::vector<kernel::HeldRow> held;

  std::int32_t n_nodes() const { return static_cast<std::int32_t>(node_type.size()); }
  std::int32_t n_jobs() const { return static_cast<std::int32_t>(job_queue.size()); }
  std::int32_t n_types() const { return static_cast<std::int32_t>(type_memory.size()); }
  /// Valid while this object lives and its columns keep their sizes.
  kernel::ProblemView view() const;
};

/// A PlaceRequest and the GPUs removed before the scheduling pass. Columns as in PlaceRequest; `n_jobs` long where it says so.
struct PassCase {
  TimeUs now = 0;
  std::vector<std::int32_t> order;
  std::vector<std::uint8_t> running, victim_ok;
  std::vector<std::uint8_t> may_displace;  // [options]; empty: all may
  std::vector<std::int32_t> preemption_class, job_rank;
  std::vector<TimeUs> option_run;
  std::vector<kernel::ReleaseRow> releases;
  kernel::Discipline discipline = kernel::Discipline::kGreedy;
  kernel::Packing packing = kernel::Packing::kTopology;
  bool preemptive = false;
  bool class_rule = false;
  std::int32_t max_tries = 16;
  std::int32_t limit = INT32_MAX;
  std::vector<kernel::TakenRow> taken;

  /// Valid while this object lives and its columns keep their sizes.
  core::PlaceTask view() const;
};

/// A scheduling pass over all jobs by index. Jobs that hold GPUs run, every job may be a victim, and run times are not known.
PassCase pass_over(const Problem& problem);

}  // namespace berth::test
