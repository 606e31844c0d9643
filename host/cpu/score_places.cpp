#include <algorithm>

#include "host/cpu/score_table.hpp"

/// Places: the candidate domains, equal ones collapsed.
namespace berth::cpu {

void ScoreTable::build_node_places() {
  const std::size_t n = kind_node_.size();
  cell_begin_.clear();
  item_begin_.clear();
  items_.clear();
  place_cost_.clear();
  if (request_.domain_cost != nullptr) {
    for (const std::int32_t node : kind_node_) place_cost_.push_back(request_.domain_cost[node]);
  }
  set_members(n, node_kind_, 0);
}

/// Lists the members of every place.
/// @param place_of  [members] place of member `first + i`, kNone: none.
void ScoreTable::set_members(std::size_t n_places, const std::vector<std::int32_t>& place_of, std::int32_t first) {
  member_begin_.assign(n_places + 1, 0);
  std::int32_t total = 0;
  for (const std::int32_t place : place_of) {
    if (place == kernel::kNone) continue;
    ++member_begin_[static_cast<std::size_t>(place) + 1];
    ++total;
  }
  for (std::size_t p = 0; p < n_places; ++p) member_begin_[p + 1] += member_begin_[p];
  members_.resize(static_cast<std::size_t>(total));
  member_next_.assign(member_begin_.begin(), member_begin_.end());
  for (std::size_t i = 0; i < place_of.size(); ++i) {
    if (place_of[i] == kernel::kNone) continue;
    members_[static_cast<std::size_t>(member_next_[static_cast<std::size_t>(place_of[i])]++)] = first + static_cast<std::int32_t>(i);
  }
}

/// Writes the cells of a domain in one part, each as its number of items followed by (kind, count) pairs.
/// When collapsed, cells are sorted, so that equal domains have equal signatures.
void ScoreTable::write_signature(std::int32_t domain, std::size_t part, std::vector<std::int32_t>& out) {
  const kernel::TopologyView& base = problem_.topology[request_.topology];
  cell_kinds_.clear();
  for (std::int32_t at = problem_.domains.first[domain]; at < problem_.domains.last[domain]; ++at) {
    const std::int32_t node = base.order[at];
    std::int32_t cell = 0;
    if (part > 0) {
      const auto [topology, level] = parts_[part - 1];
      cell = level == 0 ? node : problem_.topology[topology].node_domain[static_cast<std::int64_t>(level) * problem_.n_nodes + node];
    }
    cell_kinds_.emplace_back(cell, node_kind_[static_cast<std::size_t>(node)]);
  }
  std::sort(cell_kinds_.begin(), cell_kinds_.end());

  std::vector<std::vector<std::int32_t>> cells;
  for (std::size_t i = 0; i < cell_kinds_.size(); ++i) {
    const bool new_cell = i == 0 || cell_kinds_[i].first != cell_kinds_[i - 1].first;
    if (new_cell) cells.push_back({0});
    std::vector<std::int32_t>& cell = cells.back();
    if (!new_cell && cell_kinds_[i].second == cell_kinds_[i - 1].second) {
      ++cell.back();
    } else {
      ++cell.front();
      cell.push_back(cell_kinds_[i].second);
      cell.push_back(1);
    }
  }
  if (collapse_ == Collapse::kOn) std::sort(cells.begin(), cells.end());
  out.clear();
  for (const std::vector<std::int32_t>& cell : cells) out.insert(out.end(), cell.begin(), cell.end());
}

void ScoreTable::build_domain_places() {
  const kernel::TopologyView& topology = problem_.topology[request_.topology];
  const std::int32_t first = topology.level_begin[request_.level], last = topology.level_begin[request_.level + 1];
  const std::size_t n_parts = parts_.size() + 1;
  signature_.resize(n_parts);
  signatures_.assign(n_parts, {});
  signature_begin_.assign(n_parts, {0});
  place_cost_.clear();
  domain_place_.assign(static_cast<std::size_t>(last - first), kernel::kNone);
  index_.reset(static_cast<std::size_t>(last - first));
  std::int32_t n_places = 0;
  for (std::int32_t domain = first; domain < last; ++domain) {
    if (problem_.domains.named[domain] == 0 && request_.level != topology.levels - 1) continue;
    const std::int64_t cost = request_.domain_cost == nullptr ? 0 : request_.domain_cost[domain - first];
    std::uint64_t hash = mix(0, static_cast<std::uint64_t>(cost));
    for (std::size_t part = 0; part < n_parts; ++part) {
      write_signature(domain, part, signature_[part]);
      for (const std::int32_t word : signature_[part]) hash = mix(hash, static_cast<std::uint64_t>(word));
    }
    std::int32_t place = n_places;
    if (collapse_ == Collapse::kOn) {
      place = index_.find_or_add(hash, [&](std::int32_t other) {
        if (place_cost_[static_cast<std::size_t>(other)] != cost) return false;
        for (std::size_t part = 0; part < n_parts; ++part) {
          const std::int32_t* words = signatures_[part].data();
          const std::int32_t* begin = words + signature_begin_[part][static_cast<std::size_t>(other)];
          const std::int32_t* end = words + signature_begin_[part][static_cast<std::size_t>(other) + 1];
          if (!std::equal(begin, end, signature_[part].begin(), signature_[part].end())) return false;
        }
        return true;
      });
    }
    domain_place_[static_cast<std::size_t>(domain - first)] = place;
    if (place < n_places) continue;
    ++n_places;
    place_cost_.push_back(cost);
    for (std::size_t part = 0; part < n_parts; ++part) {
      signatures_[part].insert(signatures_[part].end(), signature_[part].begin(), signature_[part].end());
      signature_begin_[part].push_back(static_cast<std::int32_t>(signatures_[part].size()));
    }
  }
  set_members(static_cast<std::size_t>(n_places), domain_place_, first);
  add_cells();
}

/// Turns the signatures of all places into cells and items.
void ScoreTable::add_cells() {
  cell_begin_.clear();
  item_begin_.assign(1, 0);
  items_.clear();
  for (std::size_t part = 0; part < signatures_.size(); ++part) {
    cell_begin_.push_back(static_cast<std::int32_t>(item_begin_.size()) - 1);
    for (std::size_t place = 0; place + 1 < signature_begin_[part].size(); ++place) {
      auto at = static_cast<std::size_t>(signature_begin_[part][place]);
      const auto end = static_cast<std::size_t>(signature_begin_[part][place + 1]);
      while (at < end) {
        const std::int32_t n_items = signatures_[part][at++];
        for (std::int32_t i = 0; i < n_items; ++i, at += 2) items_.push_back({signatures_[part][at], signatures_[part][at + 1]});
        item_begin_.push_back(static_cast<std::int32_t>(items_.size()));
      }
      cell_begin_.push_back(static_cast<std::int32_t>(item_begin_.size()) - 1);
    }
  }
}

}  // namespace berth::cpu
