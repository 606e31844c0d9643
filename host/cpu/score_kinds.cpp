#include <algorithm>
#include <bit>

#include "host/cpu/score_table.hpp"

/// Kinds of nodes: equal in everything that some demand of the request depends on.
namespace berth::cpu {
namespace {

struct Room {
  std::int32_t ppm;
  std::int64_t memory;
  bool operator==(const Room&) const = default;
};

/// Remaining room for shares on each GPU of a node (docs/placement.md section 1).
template <class Each>
void for_each_room(const kernel::ProblemView& problem, std::int32_t node, const Each& each) {
  if (problem.node_sharing[node] == 0) return;
  const std::int64_t memory = problem.type_memory[problem.node_type[node]];
  const std::int32_t begin = problem.gpu_begin[node];
  for (std::int32_t row = begin; row < problem.gpu_begin[node + 1]; ++row) {
    const bool free = (problem.node_free[node] >> (row - begin) & 1u) != 0;
    const std::int32_t used = problem.gpu_used_ppm[row];
    const bool open = (problem.node_open[node] >> (row - begin) & 1u) != 0;
    if (free || (open && used > 0)) each(Room{kWholeGpu - used, memory == 0 ? kernel::kNoLimit : memory - problem.gpu_used_memory[row]});
  }
}

bool same_rooms(const kernel::ProblemView& problem, std::int32_t a, std::int32_t b, std::vector<std::int64_t>& scratch) {
  scratch.clear();
  for_each_room(problem, a, [&](Room room) {
    scratch.push_back(room.ppm);
    scratch.push_back(room.memory);
  });
  std::size_t at = 0;
  bool same = true;
  for_each_room(problem, b, [&](Room room) {
    same = same && at + 2 <= scratch.size() && scratch[at] == room.ppm && scratch[at + 1] == room.memory;
    at += 2;
  });
  return same && at == scratch.size();
}

/// The number of steps that are at most v; v itself where there are no steps.
std::int64_t step_of(const std::vector<std::int64_t>& steps, bool use_steps, std::int64_t v) {
  return use_steps ? std::upper_bound(steps.begin(), steps.end(), v) - steps.begin() : v;
}

void make_steps(std::vector<std::int64_t>& steps) {
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
}

}  // namespace

void ScoreTable::build_kinds() {
  kind_node_.clear();
  kind_free_.clear();
  kind_cpu_.clear();
  kind_memory_.clear();
  kind_until_.clear();
  room_begin_.assign(1, 0);
  room_ppm_.clear();
  room_memory_.clear();
  node_kind_.resize(static_cast<std::size_t>(problem_.n_nodes));
  if (collapse_ == Collapse::kOn) {
    collapse_kinds();
  } else {
    for (std::int32_t node = 0; node < problem_.n_nodes; ++node) {
      node_kind_[static_cast<std::size_t>(node)] = node;
      add_kind(node);
    }
  }
  const std::size_t n_words = (kind_node_.size() + 63) / 64;
  kind_filter_.assign(filters_.size() * n_words, 0);
  for (std::size_t f = 0; f < filters_.size(); ++f) {
    const std::uint64_t* from = problem_.filter_words + static_cast<std::int64_t>(filters_[f]) * problem_.n_words;
    std::uint64_t* to = kind_filter_.data() + f * n_words;
    if (collapse_ == Collapse::kOff) {
      std::copy(from, from + n_words, to);
      continue;
    }
    for (std::size_t kind = 0; kind < kind_node_.size(); ++kind) {
      const std::int32_t node = kind_node_[kind];
      to[kind >> 6] |= (from[node >> 6] >> (node & 63) & 1u) << (kind & 63);
    }
  }
}

void ScoreTable::add_kind(std::int32_t node) {
  kind_node_.push_back(node);
  kind_free_.push_back(std::popcount(problem_.node_free[node]));
  kind_cpu_.push_back(problem_.node_cpu[node]);
  kind_memory_.push_back(problem_.node_memory[node]);
  kind_until_.push_back(problem_.has_until != 0 ? problem_.node_until[node] : kNever);
  if (uses_shares_) {
    for_each_room(problem_, node, [&](Room room) {
      room_ppm_.push_back(room.ppm);
      room_memory_.push_back(room.memory);
    });
  }
  room_begin_.push_back(static_cast<std::int32_t>(room_ppm_.size()));
}

void ScoreTable::collapse_kinds() {
  const auto n = static_cast<std::size_t>(problem_.n_nodes);
  // Where every demand compares with thresholds, amounts between the same two thresholds are equivalent.
  cpu_steps_.clear();
  memory_steps_.clear();
  for (const std::int32_t demand : demands_used_) {
    const DemandInfo& info = demands_[static_cast<std::size_t>(demand)];
    if (info.least_cpu != INT64_MIN) cpu_steps_.push_back(info.least_cpu);
    if (info.least_memory != INT64_MIN) memory_steps_.push_back(info.least_memory);
  }
  make_steps(cpu_steps_);
  make_steps(memory_steps_);

  // Bits of 64 filters at a time, so that nodes are compared by words.
  const std::size_t chunks = (filters_.size() + 63) / 64;
  node_filters_.assign(chunks * n, 0);
  for (std::size_t f = 0; f < filters_.size(); ++f) {
    const std::uint64_t* words = problem_.filter_words + static_cast<std::int64_t>(filters_[f]) * problem_.n_words;
    std::uint64_t* bits = node_filters_.data() + f / 64 * n;
    for (std::size_t node = 0; node < n; ++node) bits[node] |= (words[node >> 6] >> (node & 63) & 1u) << (f & 63);
  }

  const std::int64_t* cost = request_.level == 0 ? request_.domain_cost : nullptr;
  const auto cpu_of = [&](std::int32_t node) { return uses_cpu_ ? step_of(cpu_steps_, all_thresholds_, problem_.node_cpu[node]) : 0; };
  const auto memory_of = [&](std::int32_t node) {
    return uses_memory_ ? step_of(memory_steps_, all_thresholds_, problem_.node_memory[node]) : 0;
  };
  index_.reset(n);
  for (std::int32_t node = 0; node < problem_.n_nodes; ++node) {
    const int free = std::popcount(problem_.node_free[node]);
    const std::int64_t cpu = cpu_of(node), memory = memory_of(node);
    const TimeUs until = problem_.has_until != 0 ? problem_.node_until[node] : kNever;
    std::uint64_t hash =
        mix(mix(mix(static_cast<std::uint64_t>(free), static_cast<std::uint64_t>(cpu)), static_cast<std::uint64_t>(memory)),
            static_cast<std::uint64_t>(until));
    if (cost != nullptr) hash = mix(hash, static_cast<std::uint64_t>(cost[node]));
    for (std::size_t c = 0; c < chunks; ++c) hash = mix(hash, node_filters_[c * n + static_cast<std::size_t>(node)]);
    if (uses_shares_) {
      for_each_room(problem_, node, [&](Room room) {
        hash = mix(mix(hash, static_cast<std::uint64_t>(room.ppm)), static_cast<std::uint64_t>(room.memory));
      });
    }
    const std::int32_t kind = index_.find_or_add(hash, [&](std::int32_t other_kind) {
      const std::int32_t other = kind_node_[static_cast<std::size_t>(other_kind)];
      if (std::popcount(problem_.node_free[other]) != free || cpu_of(other) != cpu || memory_of(other) != memory) return false;
      if (kind_until_[static_cast<std::size_t>(other_kind)] != until) return false;
      if (cost != nullptr && cost[other] != cost[node]) return false;
      for (std::size_t c = 0; c < chunks; ++c) {
        if (node_filters_[c * n + static_cast<std::size_t>(other)] != node_filters_[c * n + static_cast<std::size_t>(node)]) return false;
      }
      return !uses_shares_ || same_rooms(problem_, other, node, room_scratch_);
    });
    node_kind_[static_cast<std::size_t>(node)] = kind;
    if (kind == static_cast<std::int32_t>(kind_node_.size())) add_kind(node);
  }
}

}  // namespace berth::cpu
