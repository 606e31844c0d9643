#include "host/sim/measures/groups.hpp"

#include <algorithm>
#include <utility>

namespace berth::sim {
namespace {

struct SizeGroup {
  std::int32_t most;
  const char* name;
};
constexpr SizeGroup kSizes[] = {{1, "1"}, {4, "2-4"}, {8, "5-8"}, {32, "9-32"}, {kMaxGpusPerJob, "33+"}};

std::size_t size_group(std::int32_t gpus) {
  std::size_t place = 0;
  while (kSizes[place].most < gpus) ++place;
  return place;
}

}  // namespace

GroupsOf::GroupsOf(GroupBy by) : by_(by) {
  if (by != GroupBy::kSize) return;
  groups_.resize(std::size(kSizes));
  for (std::size_t i = 0; i < groups_.size(); ++i) groups_[i].figures.name = kSizes[i].name;
}

GroupsOf::Group& GroupsOf::group_of(const TraceJob& job) {
  if (by_ == GroupBy::kSize) return groups_[size_group(job.gpus)];
  const std::string& name = by_ == GroupBy::kUser ? job.user : by_ == GroupBy::kQueue ? job.queue : job.virtual_cluster;
  const auto [found, fresh] = at_.try_emplace(name, groups_.size());
  if (fresh) groups_.emplace_back().figures.name = name;
  return groups_[found->second];
}

void GroupsOf::add(const JobOutcome& job) {
  Group& group = group_of(*job.traced);
  ++group.figures.jobs;
  group.figures.gpu_us += job.gpu_us;
  if (job.end == JobOutcome::End::kRejected) ++group.figures.rejected;
  if (job.end != JobOutcome::End::kCompleted) return;
  group.jct.add(job.jct_us());
  group.waited += job.waited_us();
}

std::vector<GroupFigures> GroupsOf::finish() {
  std::vector<GroupFigures> all;
  for (Group& group : groups_) {
    if (group.figures.jobs == 0) continue;
    group.figures.completed = group.jct.count();
    if (group.jct.count() > 0) group.figures.mean_wait_us = static_cast<TimeUs>(group.waited / group.figures.completed);
    group.figures.jct_us = group.jct.finish();
    all.push_back(std::move(group.figures));
  }
  const auto by_name = [](const GroupFigures& a, const GroupFigures& b) { return a.name < b.name; };
  if (by_ != GroupBy::kSize) std::sort(all.begin(), all.end(), by_name);
  groups_.clear();
  return all;
}

}  // namespace berth::sim
