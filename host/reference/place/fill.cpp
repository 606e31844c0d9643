#include "host/reference/place/fill.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <tuple>

namespace berth::reference {
namespace {

using kernel::GroupRow;
using kernel::ProblemView;

// One part of a set, and how much of it may be used.
struct FillPart {
  std::int64_t offer, raw;
  std::int32_t id;
};

struct Portion {
  std::int32_t id;
  std::int64_t amount;
};

// The rule of section 3: the tightest part that holds all remaining members, else the whole largest part, and again.
std::vector<Portion> portions(std::vector<FillPart> parts, std::int64_t left) {
  std::vector<Portion> chosen;
  while (left > 0 && !parts.empty()) {
    std::optional<FillPart> best;
    for (const FillPart& part : parts) {
      if (part.offer < left) continue;
      if (!best || std::tie(part.offer, part.raw, part.id) < std::tie(best->offer, best->raw, best->id)) best = part;
    }
    if (!best) {
      for (const FillPart& part : parts) {
        if (!best || part.offer > best->offer ||
            (part.offer == best->offer && std::tie(part.raw, part.id) < std::tie(best->raw, best->id))) {
          best = part;
        }
      }
    }
    const std::int64_t amount = std::min(left, best->offer);
    if (amount == 0) break;  // all parts are empty
    chosen.push_back({best->id, amount});
    left -= amount;
    parts.erase(std::find_if(parts.begin(), parts.end(), [&](const FillPart& part) { return part.id == best->id; }));
  }
  return chosen;
}

std::map<std::int32_t, NodeList> split(const ProblemView& p, const NodeList& set, std::int32_t topology, std::int32_t level) {
  std::map<std::int32_t, NodeList> parts;
  for (const std::int32_t node : set) parts[domain_of(p, topology, level, node)].push_back(node);
  return parts;
}

bool fill_plain(const Trial& ask, State& s, Placing& placing, const NodeList& set, std::int32_t topology, std::int32_t level,
                std::int64_t members) {
  if (level == 0) {
    take_node(ask, s, placing, set.at(0), members);
    return true;
  }
  const auto children = split(*ask.problem, set, topology, level - 1);
  std::vector<FillPart> parts;
  for (const auto& child : children) {
    const Size size = plain_size(ask, s, *placing.row, child.second);
    parts.push_back({size.cap, size.raw, child.first});
  }
  for (const Portion& portion : portions(parts, members)) {
    if (!fill_plain(ask, s, placing, children.at(portion.id), topology, level - 1, portion.amount)) return false;
    members -= portion.amount;
  }
  return members == 0;
}

// Segment domains with their numbers of segments.
std::vector<Portion> segment_portions(const Trial& ask, const State& s, const GroupRow& group,
                                      const std::map<std::int32_t, NodeList>& domains, std::int64_t members) {
  std::vector<FillPart> parts;
  for (const auto& domain : domains) {
    const Size size = plain_size(ask, s, group, domain.second);
    parts.push_back({size.cap / group.segment_size, size.raw, domain.first});
  }
  return portions(parts, members / group.segment_size);
}

bool fill_segments(const Trial& ask, State& s, Placing& placing, const NodeList& set, std::int64_t members) {
  const GroupRow& group = *placing.row;
  const auto domains = split(*ask.problem, set, group.segment_topology, group.segment_level);
  for (const Portion& portion : segment_portions(ask, s, group, domains, members)) {
    const std::int64_t amount = portion.amount * group.segment_size;
    if (!fill_plain(ask, s, placing, domains.at(portion.id), group.segment_topology, group.segment_level, amount)) return false;
    members -= amount;
  }
  return members == 0;
}

bool fill_spread(const Trial& ask, State& s, Placing& placing, const NodeList& set, std::int64_t members) {
  const GroupRow& group = *placing.row;
  const auto domains = split(*ask.problem, set, group.spread_topology, group.spread_level);
  std::vector<FillPart> parts;
  for (const auto& domain : domains) {
    const Size size = plain_size(ask, s, group, domain.second);
    parts.push_back({std::min<std::int64_t>(size.cap, group.spread_most), size.raw, domain.first});
  }
  for (const Portion& portion : portions(parts, members)) {
    if (!fill_plain(ask, s, placing, domains.at(portion.id), group.spread_topology, group.spread_level, portion.amount)) return false;
    members -= portion.amount;
  }
  return members == 0;
}

bool fill_segments_and_spread(const Trial& ask, State& s, Placing& placing, const NodeList& set, std::int64_t members) {
  const ProblemView& p = *ask.problem;
  const GroupRow& group = *placing.row;
  const auto domains = split(p, set, group.segment_topology, group.segment_level);
  std::map<std::int32_t, std::int64_t> count;  // members by spread domain
  for (const Portion& portion : segment_portions(ask, s, group, domains, members)) {
    std::int64_t left = portion.amount * group.segment_size;
    members -= left;
    std::vector<FillPart> nodes;
    for (const std::int32_t node : domains.at(portion.id)) {
      const Size size = size_of(ask, s, group, node);
      nodes.push_back({size.cap, size.raw, node});
    }
    std::sort(nodes.begin(), nodes.end(), [](const FillPart& a, const FillPart& b) {
      return a.offer != b.offer ? a.offer > b.offer : std::tie(a.raw, a.id) < std::tie(b.raw, b.id);
    });
    for (const FillPart& node : nodes) {
      std::int64_t& used = count[domain_of(p, group.spread_topology, group.spread_level, node.id)];
      const std::int64_t amount = std::min({left, node.offer, group.spread_most - used});
      if (amount == 0) continue;
      take_node(ask, s, placing, node.id, amount);
      used += amount;
      left -= amount;
    }
    if (left > 0) return false;
  }
  return members == 0;
}

std::uint64_t lowest_bits(std::uint64_t mask, std::int32_t n) {
  std::uint64_t chosen = 0;
  for (std::int32_t g = 0; g < 64 && n > 0; ++g) {
    if ((mask >> g & 1) == 0) continue;
    chosen |= std::uint64_t{1} << g;
    --n;
  }
  return chosen;
}

}  // namespace

std::uint64_t choose_gpus(const ProblemView& p, const State& s, std::int32_t node, std::int32_t gpus) {
  const std::uint64_t free = s.free[static_cast<std::size_t>(node)];
  std::vector<std::uint64_t> inner;
  for (std::int32_t i = p.inner_begin[node]; i < p.inner_begin[node + 1]; ++i) inner.push_back(p.inner_mask[i] & free);
  std::uint64_t outside = free;
  for (const std::uint64_t mask : inner) outside &= ~mask;

  std::optional<std::uint64_t> tightest;
  for (const std::uint64_t mask : inner) {
    if (std::popcount(mask) >= gpus && (!tightest || std::popcount(mask) < std::popcount(*tightest))) tightest = mask;
  }
  if (tightest) return lowest_bits(*tightest, gpus);

  std::stable_sort(inner.begin(), inner.end(), [](std::uint64_t a, std::uint64_t b) { return std::popcount(a) > std::popcount(b); });
  inner.push_back(outside);
  std::uint64_t chosen = 0;
  for (const std::uint64_t mask : inner) chosen |= lowest_bits(mask, gpus - std::popcount(chosen));
  return chosen;
}

std::int32_t choose_shared_gpu(const Trial& ask, const State& s, const GroupRow& group, std::int32_t node) {
  const ProblemView& p = *ask.problem;
  std::optional<std::pair<std::int64_t, std::int32_t>> best;  // (room, GPU) among those already shared
  for (std::int32_t g = 0; g < p.gpu_begin[node + 1] - p.gpu_begin[node]; ++g) {
    const bool whole_free = (s.free[static_cast<std::size_t>(node)] >> g & 1) != 0;
    const std::int64_t room = share_room(ask, s, group, node, g);
    if (whole_free || room == 0) continue;
    if (!best || std::pair(room, g) < *best) best = std::pair(room, g);
  }
  if (best) return best->second;
  for (std::int32_t g = 0; g < p.gpu_begin[node + 1] - p.gpu_begin[node]; ++g) {
    if ((s.free[static_cast<std::size_t>(node)] >> g & 1) != 0 && share_room(ask, s, group, node, g) > 0) return g;
  }
  return kernel::kNone;
}

void take_node(const Trial& ask, State& s, Placing& placing, std::int32_t node, std::int64_t members) {
  const GroupRow& group = *placing.row;
  const bool shares = group.share_ppm != kWholeGpu;
  const std::int64_t per_entry = shares ? 1 : members;
  for (std::int64_t done = 0; done < members; done += per_entry) {
    kernel::PlacedRow row{};
    row.node = node;
    row.group = placing.group;
    row.member = placing.placed;
    row.members = static_cast<std::int32_t>(per_entry);
    row.share_ppm = group.share_ppm;
    row.mask =
        shares ? std::uint64_t{1} << choose_shared_gpu(ask, s, group, node) : choose_gpus(*ask.problem, s, node, row.members * group.gpus);
    take(*ask.problem, s, piece_of(group, row));
    placing.entries->push_back(row);
    placing.placed += row.members;
  }
}

bool fill(const Trial& ask, State& s, Placing& placing, const NodeList& set, std::int32_t topology, std::int32_t level,
          std::int64_t members) {
  const bool segment = placing.row->segment_size > 0;
  const bool spread = placing.row->spread_most > 0;
  if (level == 0 || (!segment && !spread)) return fill_plain(ask, s, placing, set, topology, level, members);
  if (segment && spread) return fill_segments_and_spread(ask, s, placing, set, members);
  return segment ? fill_segments(ask, s, placing, set, members) : fill_spread(ask, s, placing, set, members);
}

}  // namespace berth::reference
