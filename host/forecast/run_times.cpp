#include "host/forecast/run_times.hpp"

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"

namespace berth::sim {
namespace {

constexpr std::size_t kMostRuns = 2000;            // of a group, the last to end
constexpr std::size_t kEnough = 60;                // coarser groups are not looked at
constexpr std::uint64_t kPull = 4;                 // a group of n jobs is used with chance n / (n + kPull)
constexpr TimeUs kWindow = 60 * 86'400 * kSecond;  // ended before that: forgotten

constexpr std::size_t kBlocks = 32, kLeastBlock = 16;  // one future draws from one block of a group

// A draw among 2^32, as a position in 0..n-1.
std::size_t position(std::uint32_t draw, std::size_t n) { return static_cast<std::size_t>((std::uint64_t{draw} * n) >> 32); }

}  // namespace

RunTraits traits_of(const PastJob& job) {
  return {job.user, job.queue.empty() ? job.virtual_cluster : job.queue, job.gpus, job.time_limit_us};
}

std::vector<RunTimes::Key> RunTimes::keys_of(const RunTraits& t) {
  std::vector<Key> keys;
  const bool limited = t.limit_us != kNever;
  if (!t.user.empty()) {
    if (limited) keys.emplace_back(0, t.user, "", t.gpus, t.limit_us);
    keys.emplace_back(1, t.user, "", t.gpus, 0);
    keys.emplace_back(2, t.user, "", 0, 0);
  }
  if (!t.queue.empty()) {
    if (limited) keys.emplace_back(3, "", t.queue, t.gpus, t.limit_us);
    if (limited) keys.emplace_back(4, "", t.queue, 0, t.limit_us);
    keys.emplace_back(5, "", t.queue, t.gpus, 0);
  }
  if (limited) keys.emplace_back(6, "", "", t.gpus, t.limit_us);
  if (limited) keys.emplace_back(7, "", "", 0, t.limit_us);
  keys.emplace_back(8, "", "", t.gpus, 0);
  keys.emplace_back(9, "", "", 0, 0);
  return keys;
}

RunTimes::RunTimes(const JobHistory& history, TimeUs now) {
  std::vector<std::pair<TimeUs, const PastJob*>> ended;
  for (const PastJob& job : history.jobs) {
    if (job.withdrawn_after_us != kNever || job.node_failed) continue;
    const TimeUs end = job.end_us();
    if (end <= now && end > now - kWindow) ended.emplace_back(end, &job);
  }
  std::stable_sort(ended.begin(), ended.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  jobs_ = static_cast<std::int64_t>(ended.size());
  // The groups of equal jobs are looked up once.
  std::map<RunTraits, std::vector<std::int32_t>> known;
  for (const auto& [end, job] : ended) {
    RunTraits traits = traits_of(*job);
    auto found = known.find(traits);
    if (found == known.end()) {
      std::vector<std::int32_t> groups;
      for (Key& key : keys_of(traits)) {
        const auto [at, fresh] = index_.try_emplace(std::move(key), this->groups());
        if (fresh) groups_.emplace_back();
        groups.push_back(at->second);
      }
      found = known.emplace(std::move(traits), std::move(groups)).first;
    }
    for (const std::int32_t group : found->second) groups_[to_index(group)].push_back(job->run_us);
  }
  for (std::vector<TimeUs>& runs : groups_) {
    if (runs.size() > kMostRuns) runs.erase(runs.begin(), runs.end() - static_cast<std::ptrdiff_t>(kMostRuns));
  }
}

std::vector<std::int32_t> RunTimes::groups_of(const RunTraits& traits) const {
  std::vector<std::int32_t> groups;
  for (const Key& key : keys_of(traits)) {
    const auto found = index_.find(key);
    if (found != index_.end()) groups.push_back(found->second);
  }
  return groups;
}

std::vector<TimeUs> RunTimes::longer(std::int32_t group, TimeUs held) const {
  std::vector<TimeUs> out;
  for (const TimeUs run : groups_[to_index(group)]) {
    if (run > held) out.push_back(run);
  }
  return out;
}

RunLaw run_law(const RunTimes& times, const RunTraits& traits, TimeUs held) {
  RunLaw law;
  law.held_us = held;
  law.limit_us = traits.limit_us;
  for (const std::int32_t group : times.groups_of(traits)) {
    std::vector<TimeUs> runs = times.longer(group, held);
    if (runs.empty()) continue;
    const bool enough = runs.size() >= kEnough;
    law.levels.push_back({group, std::move(runs)});
    if (enough) break;
  }
  return law;
}

void RunDraws::begin(std::uint64_t seed, std::int32_t future) {
  seed_ = seed;
  future_ = future;
  ItemDraws draws(seed, RandomStream::kFuture, static_cast<std::uint64_t>(future) << 32);
  anchor_ = draws.next();
}

TimeUs RunDraws::draw(const RunLaw& law, std::uint64_t item) {
  const TimeUs most = law.limit_us;
  const auto bounded = [&](TimeUs run) { return std::max(law.held_us + 1, std::min(run, most)); };
  if (law.levels.empty()) {
    // Longer than any job of the history. What is left of run times with a heavy tail grows with what is gone: half of them
    // go on for as long again.
    ItemDraws draws(seed_, RandomStream::kFuture, (static_cast<std::uint64_t>(future_) << 32) + 1 + item);
    const std::int64_t u = 1 + draws.below(1'000'000);
    return bounded(std::min(core::saturating_add(law.held_us, core::mul_div(std::max<TimeUs>(kSecond, law.held_us), 1'000'000 - u, u)),
                            kMaxTimeUs / 4));
  }
  for (std::size_t l = 0; l < law.levels.size(); ++l) {
    const RunLaw::Level& level = law.levels[l];
    const std::size_t g = to_index(level.group);
    if (seen_[g] != future_) {
      seen_[g] = future_;
      ItemDraws draws(seed_, RandomStream::kFuture, (static_cast<std::uint64_t>(future_) << 32) + (std::uint64_t{1} << 31) + g);
      chance_[g] = draws.next();
      next_[g] = 0;
    }
    const std::size_t n = level.runs.size();
    if (l + 1 < law.levels.size() && std::uint64_t{chance_[g]} * (n + kPull) >= (std::uint64_t{n} << 32)) continue;
    const std::size_t block = std::min(n, std::max(kLeastBlock, n / kBlocks));
    const std::size_t at = (position(anchor_, n) + next_[g]++ % block) % n;
    return bounded(level.runs[at]);
  }
  return bounded(law.levels.back().runs.front());  // not reached: the last level is always used
}

}  // namespace berth::sim
