#include "host/sim/replay/cluster_changes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/decimal.hpp"
#include "host/core/base/wide.hpp"
#include "host/sim/base/random.hpp"

namespace berth::sim {

ClusterChanges::ClusterChanges(const ClusterState& state, const ClusterEvents& listed, const FailureRates& rates, std::uint64_t seed)
    : rates_(rates), seed_(seed) {
  std::map<std::string, std::int32_t> rank;
  for (std::int32_t n = 0; n < state.node_count(); ++n) {
    const Node& node = state.node(n);
    nodes_.push_back({node.state, node.available_from_us, node.available_until_us, 0, 0, node.gpus, 0, 0});
    ids_.push_back(node.id);
    rank.emplace(node.id, n);
    for (const Gpu& gpu : node.gpu_list) {
      if (gpu.state == GpuState::kOk) continue;
      // A GPU that is being released counts as failed until it is free: no other job gets it.
      gpu_failed_[{n, gpu.index}] = 1;
      ++nodes_.back().gpus_failed;
      if (gpu.state == GpuState::kReleasing && gpu.free_at_us != kNever) {
        add({gpu.free_at_us, 0, Kind::kEnd, ClusterEvent::What::kFail, n, gpu.index, kNever, 0, {}});
      }
    }
  }
  for (const ClusterEvent& event : listed.events) {
    Event own{event.at_us, 0, Kind::kBegin, event.what, -1, event.gpu, event.until_us, event.notice_us, event.job};
    if (event.what != ClusterEvent::What::kKill) {
      const auto found = rank.find(event.node);
      const std::string when = fmt::format("the event at {}", core::seconds_text(event.at_us));
      if (found == rank.end()) throw InvalidArgument(fmt::format("{}: no node '{}' in the cluster", when, event.node));
      own.node = found->second;
      if (event.gpu >= nodes_[to_index(own.node)].gpus) {
        throw InvalidArgument(fmt::format("{}: node '{}' has no GPU {}", when, event.node, event.gpu));
      }
    }
    add(std::move(own));
  }
  for (std::int32_t n = 0; n < state.node_count(); ++n) {
    draw(n, true, 0);
    draw(n, false, 0);
  }
}

void ClusterChanges::add(Event event) {
  event.order = order_++;
  events_.push(std::move(event));
}

TimeUs ClusterChanges::next(TimeUs now, bool failing) {
  while (failing && !random_.empty() && random_.top().at <= now) {
    const Random late = random_.top();
    random_.pop();
    draw(late.node, late.whole, now);
  }
  const TimeUs listed = events_.empty() ? kNever : events_.top().at;
  return failing && !random_.empty() ? std::min(listed, random_.top().at) : listed;
}

void ClusterChanges::take(TimeUs now, bool failing, Happened& out) {
  for (;;) {
    const TimeUs listed = events_.empty() ? kNever : events_.top().at;
    if (listed <= now && (!failing || random_.empty() || listed <= random_.top().at)) {
      const Event event = events_.top();
      events_.pop();
      switch (event.kind) {
        case Kind::kBegin:
          begin(event, now, out);
          break;
        case Kind::kGone:
          --nodes_[to_index(event.node)].draining;
          strike(event.node, -1, event.notice, out);
          break;
        case Kind::kEnd:
          if (event.what == ClusterEvent::What::kDrain) {
            --nodes_[to_index(event.node)].draining;
            report(event.node, out);
          } else {
            repair(event.node, event.gpu, out);
          }
          break;
      }
    } else if (failing && !random_.empty() && random_.top().at <= now) {
      const Random failure = random_.top();
      random_.pop();
      fail(failure, now, out);
    } else {
      return;
    }
  }
}

void ClusterChanges::begin(const Event& event, TimeUs now, Happened& out) {
  using What = ClusterEvent::What;
  if (event.what == What::kKill) {
    out.killed.push_back(event.job);
    return;
  }
  Event end = event;
  end.kind = Kind::kEnd;
  end.at = event.until;
  if (event.what == What::kFail) {
    strike(event.node, event.gpu, 0, out);
  } else {
    ++nodes_[to_index(event.node)].draining;
    report(event.node, out);
    end.gpu = -1;
  }
  if (event.what == What::kReclaim) {
    Event gone = event;
    gone.kind = Kind::kGone;
    gone.at = core::saturating_add(now, event.notice);
    end.what = What::kFail;
    end.at = std::max(end.at, gone.at);
    add(std::move(gone));
  }
  if (end.at != kNever) add(std::move(end));
}

void ClusterChanges::strike(std::int32_t node, std::int32_t gpu, TimeUs notice, Happened& out) {
  NodeNow& struck = nodes_[to_index(node)];
  if (gpu < 0) {
    ++struck.failed;
    report(node, out);
  } else if (++gpu_failed_[{node, gpu}] == 1) {
    ++struck.gpus_failed;
    out.deltas.push_back(delta::SetGpuState{ids_[to_index(node)], gpu, GpuState::kFailed, kNever});
  }
  out.struck.push_back({node, gpu, notice});
}

void ClusterChanges::repair(std::int32_t node, std::int32_t gpu, Happened& out) {
  NodeNow& repaired = nodes_[to_index(node)];
  if (gpu < 0) {
    --repaired.failed;
    report(node, out);
  } else if (const auto found = gpu_failed_.find({node, gpu}); --found->second == 0) {
    gpu_failed_.erase(found);
    --repaired.gpus_failed;
    out.deltas.push_back(delta::SetGpuState{ids_[to_index(node)], gpu, GpuState::kOk, kNever});
  } else {
    out.deltas.push_back(delta::SetGpuState{ids_[to_index(node)], gpu, GpuState::kFailed, kNever});
  }
}

void ClusterChanges::report(std::int32_t node, Happened& out) const {
  const NodeNow& now = nodes_[to_index(node)];
  const NodeState state = now.failed > 0 ? NodeState::kFailed : now.draining > 0 ? NodeState::kDrain : now.usual;
  out.deltas.push_back(delta::SetNodeState{ids_[to_index(node)], state, now.available_from});
}

void ClusterChanges::draw(std::int32_t node, bool whole, TimeUs now) {
  NodeNow& n = nodes_[to_index(node)];
  const TimeUs mean = whole ? rates_.node_us : n.gpus > 0 ? rates_.gpu_us / n.gpus : 0;
  if ((whole ? rates_.node_us : rates_.gpu_us) == 0 || n.gpus == 0 || n.usual == NodeState::kFailed) return;
  ItemDraws draws(seed_, RandomStream::kFailure, (static_cast<std::uint64_t>(node) << 32) | n.failures++);
  random_.push({core::saturating_add(now, std::max<TimeUs>(1, draws.exponential(mean))), node, whole});
}

void ClusterChanges::fail(const Random& failure, TimeUs now, Happened& out) {
  NodeNow& n = nodes_[to_index(failure.node)];
  ItemDraws draws(seed_, RandomStream::kRepair, (static_cast<std::uint64_t>(failure.node) << 32) | n.failures);
  const std::int32_t gpu = failure.whole ? -1 : static_cast<std::int32_t>(draws.below(n.gpus));
  const bool is_there = n.available_from <= now && now < n.available_until;
  // A node that is down does not fail.
  if (n.failed > 0 || !is_there || (gpu >= 0 && gpu_failed_.count({failure.node, gpu}) > 0)) {
    if (n.gpus_failed < n.gpus) draw(failure.node, failure.whole, now);
    return;
  }
  strike(failure.node, gpu, 0, out);
  TimeUs back = kNever;
  if (rates_.repair_us > 0) {
    back = core::saturating_add(now, std::max<TimeUs>(1, draws.exponential(rates_.repair_us)));
    add({back, 0, Kind::kEnd, ClusterEvent::What::kFail, failure.node, gpu, kNever, 0, {}});
  }
  // Without repair a node fails only once.
  if (!failure.whole || back != kNever) draw(failure.node, failure.whole, failure.whole ? back : now);
}

std::int64_t ClusterChanges::gpus_up(const ClusterState& state, TimeUs now) const {
  std::int64_t up = 0;
  for (std::size_t at = 0; at < nodes_.size(); ++at) {
    const Node& node = state.node(static_cast<std::int32_t>(at));
    const NodeNow& n = nodes_[at];
    const bool there = node.available_from_us <= now && now < node.available_until_us;
    if (there && n.failed == 0 && n.usual != NodeState::kFailed) up += n.gpus - n.gpus_failed;
  }
  return up;
}

}  // namespace berth::sim
