#include "host/sim/replay/run_history.hpp"

#include <algorithm>
#include <cstddef>

namespace berth::sim {

void RunHistory::add(const std::string& user, std::int32_t gpus, TimeUs run_us) {
  if (!user.empty()) by_user_[user].run.push_back(run_us);
  by_gpus_[gpus].run.push_back(run_us);
  all_.run.push_back(run_us);
}

void RunHistory::finish(Group& group) {
  std::sort(group.run.begin(), group.run.end());
  group.from.resize(group.run.size());
  __int128 sum = 0;
  for (std::size_t i = group.run.size(); i-- > 0;) {
    sum += group.run[i];
    group.from[i] = sum;
  }
}

void RunHistory::finish() {
  for (auto& one : by_user_) finish(one.second);
  for (auto& one : by_gpus_) finish(one.second);
  finish(all_);
}

bool RunHistory::speak(const Group& group, TimeUs ran_us, Estimate& estimate) {
  const auto first = std::upper_bound(group.run.begin(), group.run.end(), ran_us);
  if (first == group.run.end()) return false;
  const auto begin = static_cast<std::size_t>(first - group.run.begin()), n = group.run.size() - begin;
  estimate.run_us = static_cast<TimeUs>(group.from[begin] / static_cast<__int128>(n));
  estimate.p50_us = group.run[begin + n * 50 / 100];
  estimate.p90_us = group.run[begin + n * 90 / 100];
  estimate.source = "history-mean";
  return true;
}

Estimate RunHistory::estimate(const std::string& user, std::int32_t gpus, TimeUs ran_us) const {
  Estimate estimate;
  const auto same_user = by_user_.find(user);
  if (same_user != by_user_.end() && speak(same_user->second, ran_us, estimate)) return estimate;
  const auto same_gpus = by_gpus_.find(gpus);
  if (same_gpus != by_gpus_.end() && speak(same_gpus->second, ran_us, estimate)) return estimate;
  speak(all_, ran_us, estimate);
  return estimate;
}

}  // namespace berth::sim
