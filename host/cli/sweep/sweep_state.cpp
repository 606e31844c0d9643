#include "host/cli/sweep/sweep_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "berth/error.hpp"
#include "host/cli/base/echoed.hpp"
#include "host/cli/sweep/sweep_intervals.hpp"

namespace berth::cli {

SweepShard parse_shard(const std::string& text) {
  SweepShard shard;
  const char* const end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, shard.index);
  const bool slash = index.ec == std::errc() && index.ptr != end && *index.ptr == '/';
  const auto count = slash ? std::from_chars(index.ptr + 1, end, shard.count) : index;
  if (!slash || count.ec != std::errc() || count.ptr != end || shard.count < 1 || shard.index < 0 || shard.index >= shard.count)
    throw InvalidArgument(fmt::format("--shard: '{}': expected I/N with I from 0 to N-1, such as 0/16", echoed(text)));
  return shard;
}

SweepState::SweepState(const SweepPlan& plan, const std::map<std::string, results::SweepFigures>& stored, const SweepShard& shard)
    : plan_(plan), stored_(stored), shard_(shard), blocks_(plan.blocks.size()), figures_(plan.cells.size()) {
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const bool mine = !plan.spec.until || static_cast<std::int64_t>(b) % shard.count == shard.index;
    if (!mine) continue;
    add_seeds(b, static_cast<std::int64_t>(plan.spec.seeds.size()));
    extend(b);
  }
}

std::int64_t SweepState::seed(std::int64_t index) const {
  const auto& seeds = plan_.spec.seeds;
  return index < static_cast<std::int64_t>(seeds.size()) ? seeds[static_cast<std::size_t>(index)] : index;
}

void SweepState::add_seeds(std::size_t block, std::int64_t until) {
  for (std::int64_t s = blocks_[block].seeds; s < until; ++s) {
    for (const std::size_t cell : plan_.blocks[block]) {
      const bool mine = plan_.spec.until || position_++ % shard_.count == shard_.index;
      if (!mine) continue;
      ++known_;
      const auto found = stored_.find(sweep_key(plan_.cells[cell], seed(s)));
      if (found == stored_.end()) {
        tasks_.push_back({cell, seed(s)});
        ++blocks_[block].missing;
        continue;
      }
      figures_[cell].emplace(seed(s), found->second);
      ++done_, ++resumed_;
    }
  }
  blocks_[block].seeds = until;
}

void SweepState::extend(std::size_t block) {
  if (!plan_.spec.until) return;
  const std::int64_t most = plan_.most_seeds();
  while (blocks_[block].missing == 0 && !blocks_[block].failed) {
    std::int64_t wanted = 0;
    for (const std::size_t cell : plan_.blocks[block]) {
      std::vector<std::int64_t> values;
      for (const auto& [seed, figures] : figures_[cell]) values.push_back(figures[plan_.spec.until->metric]);
      const SweepInterval interval = interval_of(values);
      if (!is_narrow(interval, plan_.spec.until->part_ppm)) wanted = std::max(wanted, next_count(interval, plan_.spec.until->part_ppm));
    }
    if (wanted == 0) return;
    if (blocks_[block].seeds >= most) {
      ++wide_blocks_;
      return;
    }
    add_seeds(block, std::min(wanted, most));
  }
}

std::optional<SweepTask> SweepState::next() {
  if (tasks_.empty()) return std::nullopt;
  const SweepTask task = tasks_.front();
  tasks_.pop_front();
  return task;
}

void SweepState::stored(const SweepTask& task, const results::SweepFigures& figures) {
  figures_[task.cell].emplace(task.seed, figures);
  ++done_;
  const std::size_t block = plan_.cells[task.cell].block;
  --blocks_[block].missing;
  extend(block);
}

void SweepState::failed(const SweepTask& task, const std::string& problem) {
  ++done_, ++failures_, ++problems_[problem];
  Block& block = blocks_[plan_.cells[task.cell].block];
  --block.missing;
  block.failed = true;
}

}  // namespace berth::cli
