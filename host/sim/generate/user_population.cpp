#include "host/sim/generate/user_population.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace berth::sim {
namespace {

constexpr std::size_t kFewRecords = 3;  // with fewer, the table of the workload is used

}  // namespace

UserPopulation::UserPopulation(const GenerateOptions& options, const ClusterLayout& layout) : virtual_clusters_(options.virtual_clusters) {
  // A few users have most of the jobs: weights 1, 1/2, 1/3, ...
  const std::int32_t users = std::clamp(options.jobs / 25, std::clamp(options.jobs, 1, 12), 500);
  std::int64_t total = 0;
  std::vector<std::int64_t> queue_weight(static_cast<std::size_t>(options.queues), 0);
  for (std::int32_t u = 0; u < users; ++u) {
    const std::int64_t weight = 1'000'000 / (u + 1);
    total += weight;
    weight_end_.push_back(total);
    if (options.queues > 0) queue_weight[static_cast<std::size_t>(u % options.queues)] += weight;
  }
  memory_.resize(static_cast<std::size_t>(users) * kSizeClasses);
  for (const std::int32_t gpus : layout.type_gpus) gpus_ += gpus;
  for (const std::int64_t weight : queue_weight) {
    // A quarter above its fraction of the users, and at least a node.
    guarantees_.push_back(gpus_ * weight / total);
    limits_.push_back(options.queues == 1 ? gpus_ : std::min(gpus_, guarantees_.back() * 5 / 4 + options.gpus_per_node));
  }
}

UserPopulation::Owner UserPopulation::draw(ItemDraws& draws) const {
  const std::int64_t at = draws.below(weight_end_.back());
  const auto found = std::upper_bound(weight_end_.begin(), weight_end_.end(), at);
  const auto user = static_cast<std::int32_t>(found - weight_end_.begin());
  return {user, limits_.empty() ? -1 : user % static_cast<std::int32_t>(limits_.size()),
          virtual_clusters_ == 0 ? -1 : user % virtual_clusters_};
}

std::string UserPopulation::user_name(std::int32_t user) const { return fmt::format("user{:03}", user); }
std::string UserPopulation::queue_name(std::int32_t queue) const { return fmt::format("team{:02}", queue); }

std::vector<Queue> UserPopulation::queues() const {
  std::vector<Queue> all;
  if (limits_.empty()) return all;
  Queue root;
  root.id = "all";
  root.quotas.push_back({"*", gpus_, kUnlimited, kUnlimited});
  all.push_back(root);
  for (std::size_t q = 0; q < limits_.size(); ++q) {
    Queue queue;
    queue.id = queue_name(static_cast<std::int32_t>(q));
    queue.parent = root.id;
    queue.quotas.push_back({"*", guarantees_[q], limits_[q], kUnlimited});
    all.push_back(queue);
  }
  return all;
}

void UserPopulation::remember(std::int32_t user, int size_class, TimeUs run) {
  memory_[static_cast<std::size_t>(user * kSizeClasses + size_class)].push_back(run);
}

void UserPopulation::sort_memory() {
  for (auto& runs : memory_) std::sort(runs.begin(), runs.end());
}

Estimate UserPopulation::expect(std::int32_t user, int size_class, TimeUs elapsed, Quantiles table) const {
  const auto& runs = memory_[static_cast<std::size_t>(user * kSizeClasses + size_class)];
  const auto longer = std::upper_bound(runs.begin(), runs.end(), elapsed);
  const auto count = static_cast<std::size_t>(runs.end() - longer);
  Estimate estimate;
  if (count >= kFewRecords) {
    std::int64_t sum = 0;
    for (auto it = longer; it != runs.end(); ++it) sum += *it;
    estimate.run_us = sum / static_cast<std::int64_t>(count);
    estimate.p50_us = *(longer + static_cast<std::ptrdiff_t>(count / 2));
    estimate.p90_us = *(longer + static_cast<std::ptrdiff_t>(count * 9 / 10));
    estimate.source = "generated:history-mean";
  } else {
    estimate.run_us = mean_beyond(table, elapsed);
    estimate.p50_us = quantile_beyond(table, elapsed, 500'000);
    estimate.p90_us = quantile_beyond(table, elapsed, 900'000);
    estimate.source = "generated:workload-mean";
  }
  return estimate;
}

}  // namespace berth::sim
