#include <fmt/format.h>

#include <cstdint>
#include <unordered_map>

#include "host/core/base/distinct.hpp"
#include "host/core/check/check_snapshot.hpp"

namespace berth::core {
namespace {

void check_lending(const Queue& queue, const Quota& quota, const InputLocation& at) {
  check_range(quota.lending, kUnlimited, kMostQuotaGpus, at, "lending");
  if (quota.lending == kUnlimited) return;
  if (queue.parent.empty())
    at.fail_at("lending", "a queue without a parent has no others to lend to: leave out `lending`, or state `parent`");
  if (quota.guarantee == 0) at.fail_at("lending", "a queue lends of its guarantee: state `guarantee` beside it, or leave out `lending`");
  if (quota.lending > quota.guarantee) {
    at.fail_at("lending", fmt::format("{} is more than the guarantee of {}: lend that at most", quota.lending, quota.guarantee));
  }
}

}  // namespace

void check_queue(const Queue& queue, const References& refs, const InputLocation& where) {
  check_name(queue.id, where, "id");
  check_decimal(queue.weight_ppm, 6, 1, kScoreCeiling, where, "weight");
  for (std::size_t i = 0; i < queue.quotas.size(); ++i) {
    const Quota& quota = queue.quotas[i];
    const InputLocation at(where, "quotas", static_cast<std::int64_t>(i));
    if (quota.gpu_type != "*" && refs.gpu_type(quota.gpu_type) == nullptr) {
      at.fail_at("gpu_type", fmt::format("there is no GPU type '{}' ('*' stands for all together){}", quota.gpu_type,
                                         refs.near_gpu_type(quota.gpu_type)));
    }
    check_range(quota.guarantee, 0, kMostQuotaGpus, at, "guarantee");
    check_range(quota.limit, kUnlimited, kMostQuotaGpus, at, "limit");
    check_range(quota.borrowing, kUnlimited, kMostQuotaGpus, at, "borrowing");
    check_lending(queue, quota, at);
  }
  find_repeat(
      queue.quotas.size(), [&](std::size_t i) { return std::string_view(queue.quotas[i].gpu_type); },
      [&](std::size_t i) {
        InputLocation(where, "quotas", static_cast<std::int64_t>(i))
            .fail_at("gpu_type", fmt::format("'{}' has a quota already", queue.quotas[i].gpu_type));
      });
  check_extensions(queue.x, where);
}

void check_queue_tree(const std::vector<Queue>& queues, const InputLocation& where) {
  const auto fail = [&](std::size_t i, std::string_view field, const std::string& problem) {
    InputLocation(where, "queues", static_cast<std::int64_t>(i)).fail_at(field, problem);
  };
  std::unordered_map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < queues.size(); ++i) {
    const auto [at, added] = index.emplace(queues[i].id, i);
    if (!added) fail(i, "id", fmt::format("'{}' is the id of /queues/{} too", queues[i].id, at->second));
  }
  constexpr std::size_t kRoot = SIZE_MAX;
  std::vector<std::size_t> parent(queues.size(), kRoot);
  for (std::size_t i = 0; i < queues.size(); ++i) {
    if (queues[i].parent.empty()) continue;
    const auto at = index.find(queues[i].parent);
    if (at == index.end()) {
      fail(i, "parent", fmt::format("there is no queue '{}'{}", queues[i].parent, near_id(queues[i].parent, queues, queues[i].id)));
    }
    parent[i] = at->second;
  }
  // Each queue is visited once: `seen` holds the traversal that first reached it.
  std::vector<std::size_t> seen(queues.size(), kRoot);
  for (std::size_t i = 0; i < queues.size(); ++i) {
    std::size_t q = i;
    for (; q != kRoot && seen[q] == kRoot; q = parent[q]) seen[q] = i;
    if (q != kRoot && seen[q] == i) fail(i, "parent", fmt::format("queue '{}' is its own ancestor", queues[q].id));
  }
  // Every decision charges a job to all ancestors of its queue, so the depth is limited.
  for (std::size_t i = 0; i < queues.size(); ++i) {
    int depth = 0;
    for (std::size_t q = i; q != kRoot && depth <= kMostQueueDepth; q = parent[q]) ++depth;
    if (depth > kMostQueueDepth) fail(i, "parent", fmt::format("more than {} queues stand above one another", kMostQueueDepth));
  }
  // A parent is charged for what all queues below it keep.
  std::unordered_map<std::string_view, std::int64_t> kept;  // by GPU type
  for (std::size_t i = 0; i < queues.size(); ++i) {
    for (const Quota& quota : queues[i].quotas) {
      if (quota.lending == kUnlimited) continue;
      std::int64_t& sum = kept[quota.gpu_type];
      sum += quota.guarantee - quota.lending;
      if (sum > kMostQuotaGpus) fail(i, "quotas", fmt::format("queues keep more than {} GPUs in all: raise `lending`", kMostQuotaGpus));
    }
  }
}

}  // namespace berth::core
