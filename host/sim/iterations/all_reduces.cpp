#include "host/sim/iterations/all_reduces.hpp"

#include <algorithm>

#include "host/core/base/wide.hpp"

namespace berth::sim {
namespace {

constexpr std::int64_t kFemtoseconds = 1'000'000'000;  // per microsecond

TimeUs transfer_us(std::int64_t bytes, std::int64_t byte_fs) {
  return core::saturate(core::ceil_div(core::Wide{bytes} * byte_fs, core::Wide{kFemtoseconds}));
}

}  // namespace

TimeUs NetworkCost::alone_us(std::int64_t bytes) const { return core::saturating_add(latency_us, transfer_us(bytes, byte_fs)); }

std::int64_t AllReduces::left_at(const Row& row, TimeUs now) const {
  const TimeUs moving = std::max<TimeUs>(0, now - row.since - row.latency);
  return std::max<std::int64_t>(0, row.bytes - core::mul_div(moving, kFemtoseconds, cost_.byte_fs_of(row.sharing)));
}

void AllReduces::settle(Row& row, TimeUs now) const {
  row.bytes = left_at(row, now);
  row.latency = std::max<TimeUs>(0, row.latency - (now - row.since));
  row.since = now;
}

void AllReduces::recount(std::span<const std::int32_t> nodes, TimeUs now) {
  for (const std::int32_t node : nodes) {
    for (const std::int32_t id : on_[to_index(node)]) {
      Row& row = rows_[to_index(id)];
      std::int64_t sharing = 1;
      for (const std::int32_t touched : row.nodes) sharing = std::max(sharing, static_cast<std::int64_t>(on_[to_index(touched)].size()));
      if (sharing == row.sharing) continue;
      settle(row, now);
      row.sharing = sharing;
      ++row.run;
      changed_.push_back(id);
    }
  }
}

void AllReduces::begin(std::int32_t id, std::int64_t bytes, std::span<const std::int32_t> nodes, TimeUs begun, TimeUs now) {
  if (rows_.size() <= to_index(id)) rows_.resize(to_index(id) + 1);
  Row& row = rows_[to_index(id)];
  row = {bytes, cost_.latency_us, begun, 1, nodes, true, row.run + 1};
  settle(row, now);
  for (const std::int32_t node : nodes) on_[to_index(node)].push_back(id);
  changed_.push_back(id);
  recount(nodes, now);
}

void AllReduces::end(std::int32_t id, TimeUs now) {
  Row& row = rows_[to_index(id)];
  row.active = false;
  ++row.run;
  for (const std::int32_t node : row.nodes) std::erase(on_[to_index(node)], id);
  recount(row.nodes, now);
}

TimeUs AllReduces::finish_us(std::int32_t id) const {
  const Row& row = rows_[to_index(id)];
  return core::saturating_add(row.since, core::saturating_add(row.latency, transfer_us(row.bytes, cost_.byte_fs_of(row.sharing))));
}

bool AllReduces::admits(Admission rule, std::int64_t bytes, std::span<const std::int32_t> nodes, TimeUs now) const {
  if (rule == Admission::kAny) return true;
  std::size_t busiest = 0;
  for (const std::int32_t node : nodes) busiest = std::max(busiest, on_[to_index(node)].size());
  if (busiest == 0 || rule == Admission::kOne) return busiest == 0;
  if (busiest > 1 || rule == Admission::kTwo) return busiest == 1;
  return std::all_of(nodes.begin(), nodes.end(), [&](std::int32_t node) {
    return std::all_of(on_[to_index(node)].begin(), on_[to_index(node)].end(), [&](std::int32_t id) {
      return core::Wide{bytes} * 2 * (cost_.byte_fs + cost_.contention_fs) <= core::Wide{left_at(rows_[to_index(id)], now)} * cost_.byte_fs;
    });
  });
}

}  // namespace berth::sim
