#include "host/cli/capacity/mix_search.hpp"

#include <algorithm>
#include <utility>

namespace berth::cli {
namespace {

constexpr int kMixLevels = 3;     // 7 counts of the first kind at most
constexpr int kMostRefined = 12;  // steps around the cheapest

}  // namespace

NodeMix MixSearch::Line::mix(std::int64_t size) const {
  NodeMix mix = others;
  mix[kind] = size;
  return mix;
}

MixSearch::MixSearch(std::vector<SizeRange> alone, bool mixes, Cost cost, Cost least)
    : alone_(std::move(alone)), mixes_(mixes), cost_(std::move(cost)), least_(std::move(least)) {
  for (std::size_t kind = 0; kind < alone_.size(); ++kind) {
    Line& line = lines_.emplace_back();
    line.kind = kind;
    line.others.assign(alone_.size(), 0);
    line.range = alone_[kind];
  }
}

std::map<std::int64_t, bool> MixSearch::sizes_of(const Line& line, const std::map<NodeMix, bool>& holds) {
  std::map<std::int64_t, bool> sizes;
  for (const auto& [mix, held] : holds) {
    if (mix == line.mix(mix[line.kind])) sizes.emplace(mix[line.kind], held);
  }
  return sizes;
}

std::vector<NodeMix> MixSearch::next(const std::map<NodeMix, bool>& holds) {
  while (true) {
    std::vector<NodeMix> mixes;
    for (Line& line : lines_) {
      if (line.over) continue;
      const SizeStep step = next_sizes(line.range, sizes_of(line, holds));
      line.over = step.sizes.empty();
      line.answer = step.answer;
      for (const std::int64_t size : step.sizes) mixes.push_back(line.mix(size));
    }
    std::sort(mixes.begin(), mixes.end());
    mixes.erase(std::unique(mixes.begin(), mixes.end()), mixes.end());
    if (!mixes.empty()) return mixes;
    if (!add_lines()) return {};
  }
}

// By the count of the first kind. Its first line is of the first kind, whose answer needs none of the second.
std::vector<MixSearch::Known> MixSearch::known() const {
  std::vector<Known> all;
  for (const Line& line : lines_) {
    Known& one = all.emplace_back();
    if (line.kind == 0) {
      one.first = line.answer.value_or(line.range.to);
      if (line.answer) one.other = 0;
    } else {
      one.first = line.others[0];
      one.other = line.answer;
    }
  }
  std::sort(all.begin(), all.end(), [](const Known& a, const Known& b) { return a.first < b.first; });
  return all;
}

bool MixSearch::add_between(const Known& left, const Known& right) {
  if (right.first - left.first < 2) return false;
  if (left.other && left.other == right.other) return false;  // more of the first kind save none of the second
  const std::int64_t first = left.first + (right.first - left.first) / 2;
  const std::optional<NodeMix> best = cheapest();
  if (best && least_({first, right.other.value_or(0)}) >= cost_(*best)) return false;
  Line& line = lines_.emplace_back();
  line.kind = 1;
  line.others = {first, 0};
  line.range = alone_[1];
  line.range.from = right.other.value_or(0);
  // A mix that needs more of the second kind than with fewer of the first is no bargain.
  line.range.to = std::max(line.range.from, left.other.value_or(alone_[1].to));
  line.range.to_is_enough = left.other.has_value();
  line.range.start = line.range.from + (line.range.to - line.range.from) / 2;
  return true;
}

bool MixSearch::add_lines() {
  if (!mixes_ || alone_.size() != 2) return false;
  if (levels_ < kMixLevels) {
    ++levels_;
    const std::vector<Known> all = known();
    bool added = false;
    for (std::size_t k = 0; k + 1 < all.size(); ++k) added = add_between(all[k], all[k + 1]) || added;
    if (added) return true;
    levels_ = kMixLevels;
  }
  return refine();
}

bool MixSearch::refine() {
  if (refined_++ == kMostRefined) return false;
  const std::vector<Known> all = known();
  std::size_t best = all.size();
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (!all[k].other) continue;
    if (best == all.size() || cost_({all[k].first, *all[k].other}) < cost_({all[best].first, *all[best].other})) best = k;
  }
  if (best == all.size()) return false;
  bool added = best > 0 && add_between(all[best - 1], all[best]);
  if (best + 1 < all.size()) added = add_between(all[best], all[best + 1]) || added;
  return added;
}

std::vector<NodeMix> MixSearch::answers() const {
  std::vector<NodeMix> all;
  for (const Line& line : lines_) {
    if (line.answer) all.push_back(line.mix(*line.answer));
  }
  return all;
}

std::optional<NodeMix> MixSearch::cheapest() const {
  std::optional<NodeMix> best;
  for (const NodeMix& mix : answers()) {
    if (!best || cost_(mix) < cost_(*best)) best = mix;
  }
  return best;
}

}  // namespace berth::cli
