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

/// The traffic of placed gangs on the links of a state. docs/traffic.md has the formulas. Memory is kept between gangs.
class Traffic {
 public:
  Traffic(const StateView& state, const NetworkLinks& links) : state_(state), links_(links) {}

  /// One row for each link with a known bandwidth that the gang uses, by link. Empty where the gang is on one node or in one
  /// NVLink domain, or where nothing is known of its traffic.
  ///
  /// Where groups of the shape state communication, it is theirs. Else the gradients go around a ring of the nodes in their
  /// order: every node sends 2 (n - 1) / n of them, and the ring leaves every domain below the level that it spans once.
  /// O(nodes of the gang * levels), and O(members * levels) for each pipeline.
  std::span<const LinkBytes> of(const Job& job, const Shape& shape, std::span<const PlanEntry> entries);

  /// Nanoseconds that the last gang waits for hops in a step, where its groups state communication; else 0, as a profile's
  /// all-reduce has them. What a node takes part in goes one after the other: the most of all nodes.
  std::int64_t latency_ns() const { return latency_ns_; }

  /// Whether a group of the shape states communication.
  static bool stated(const Shape& shape);

 private:
  struct Flow {
    std::int32_t link;
    std::int64_t out, in;
  };
  struct NodeDelay {
    std::int32_t node;
    std::int64_t ns;
  };
  void add_group(const Shape& shape, std::size_t group, std::span<const PlanEntry> entries);
  void all_reduce(CommAlgorithm algorithm, std::span<const NodeMembers> nodes, std::int64_t bytes);
  void tree(std::span<const NodeMembers> nodes, std::int64_t bytes);
  void exchange(std::span<const NodeMembers> from, std::span<const NodeMembers> to, std::int64_t bytes);
  void exchange_segments(std::int32_t size, std::int64_t bytes);
  template <class Use>
  void leave(std::int32_t level, std::span<const NodeMembers> here, std::span<const NodeMembers> there, const Use& use);
  void pipe(std::span<const NodeMembers> from, std::span<const NodeMembers> to, std::int64_t bytes, bool back);
  void chain(std::span<const NodeMembers> nodes, std::int64_t bytes);
  void edge(std::int32_t from, std::int32_t to, std::int64_t forward, std::int64_t back);
  std::int64_t edge_hop_ns(std::int32_t a, std::int32_t b) const;
  void delay(std::span<const NodeMembers> nodes, std::int64_t times, std::int64_t each_ns);
  void add_all(std::span<const NodeMembers> nodes, std::int64_t bytes);
  void add_domains(std::span<const NodeMembers> nodes, std::int64_t bytes);
  void add(std::int32_t link, std::int64_t out, std::int64_t in);
  void merge();
  void merge_delays();
  bool same_nvlink(std::int32_t a, std::int32_t b) const;

  StateView state_;
  const NetworkLinks& links_;
  std::vector<NodeMembers> members_, peers_, all_;
  std::vector<NodeGpus> nodes_;
  std::vector<Flow> flows_;
  std::vector<std::int32_t> behind_;  // [links] members; zero between calls
  std::vector<NodeDelay> delays_;
  std::vector<LinkBytes> rows_;
  std::int64_t latency_ns_ = 0;
};

}  // namespace berth::core
