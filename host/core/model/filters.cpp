#include "host/core/model/filters.hpp"

#include <algorithm>
#include <utility>

#include "berth/kernel/base/to_index.hpp"

namespace berth::core {
namespace {

// Length-prefixed, so that different keys never give the same text.
void append(std::string& text, std::string_view part) {
  text += std::to_string(part.size());
  text += ':';
  text += part;
}

}  // namespace

bool FilterTable::allows(const Key& key, const Cluster& cluster, std::int32_t n, bool for_now) {
  const Node& node = (*cluster.nodes)[to_index(n)];
  if ((*cluster.node_type)[to_index(n)] != key.gpu_type || (key.sharing && !node.sharing)) return false;
  const std::int64_t gpu_memory = (*cluster.gpu_types)[to_index(key.gpu_type)].memory_bytes;
  if (gpu_memory != 0 && key.gpu_memory_bytes > gpu_memory) return false;
  const auto& vcs = node.virtual_clusters;
  if (!vcs.empty() && std::find(vcs.begin(), vcs.end(), key.virtual_cluster) == vcs.end()) return false;
  for (const auto& [label, values] : key.labels) {
    const auto has = std::find_if(node.labels.begin(), node.labels.end(), [&name = label](const auto& l) { return l.first == name; });
    if (has == node.labels.end() || std::find(values.begin(), values.end(), has->second) == values.end()) return false;
  }
  if (for_now && !cluster.node_reservations->empty()) {
    const auto& held_for = (*cluster.node_reservations)[to_index(n)];
    if (!std::includes(key.reservations.begin(), key.reservations.end(), held_for.begin(), held_for.end())) return false;
  }
  return true;
}

void FilterTable::clear() {
  keys_.clear();
  sharing_.clear();
  index_.clear();
  words_.clear();
  lasting_.clear();
}

void FilterTable::classify(const Cluster& cluster) {
  const auto n_nodes = static_cast<std::int32_t>(cluster.nodes->size());
  class_of_node_.assign(to_index(n_nodes), 0);
  class_member_.clear();
  std::unordered_map<std::string, std::int32_t> seen;
  std::string text;
  for (std::int32_t n = 0; n < n_nodes; ++n) {
    const Node& node = (*cluster.nodes)[to_index(n)];
    text = std::to_string((*cluster.node_type)[to_index(n)]);
    if (node.sharing) text += 's';
    for (const auto& vc : node.virtual_clusters) append(text += 'c', vc);
    for (const auto& [label, value] : node.labels) {
      append(text += 'l', label);
      append(text, value);
    }
    if (!cluster.node_reservations->empty()) {
      for (const std::int32_t r : (*cluster.node_reservations)[to_index(n)]) text += "v" + std::to_string(r);
    }
    const auto [found, is_new] = seen.try_emplace(text, static_cast<std::int32_t>(class_member_.size()));
    if (is_new) class_member_.push_back(n);
    class_of_node_[to_index(n)] = found->second;
  }
}

void FilterTable::rebuild(const Cluster& cluster) {
  n_words_ = static_cast<std::int32_t>((cluster.nodes->size() + 63) / 64);
  classify(cluster);
  words_.assign(keys_.size() * to_index(n_words_), 0);
  lasting_.clear();
  reserved_ = !cluster.node_reservations->empty();
  for (std::size_t row = 0; row < keys_.size(); ++row) compute(row, cluster);
}

void FilterTable::begin(const Job& job, std::span<const std::int32_t> reservations) {
  const Constraints& limits = job.constraints;
  job_ = &job;
  reservations_ = reservations;
  text_ = std::to_string(limits.gpu_memory_bytes);
  append(text_ += ',', job.virtual_cluster);
  for (const auto& [label, values] : limits.labels) {
    append(text_ += 'l', label);
    for (const auto& value : values) append(text_, value);
  }
  for (const auto& node : limits.required_nodes) append(text_ += 'r', node);
  for (const auto& node : limits.excluded_nodes) append(text_ += 'x', node);
  for (const std::int32_t r : reservations) text_ += "v" + std::to_string(r);
  text_ += 't';
  common_ = text_.size();
}

std::int32_t FilterTable::row(std::int32_t gpu_type, const Cluster& cluster) {
  text_.resize(common_);
  text_ += std::to_string(gpu_type);
  const auto found = index_.find(text_);
  if (found != index_.end()) return found->second;
  index_.emplace(text_, size());
  const Constraints& limits = job_->constraints;
  add({gpu_type,
       limits.gpu_memory_bytes,
       job_->virtual_cluster,
       limits.labels,
       limits.required_nodes,
       limits.excluded_nodes,
       {reservations_.begin(), reservations_.end()}},
      cluster);
  return size() - 1;
}

void FilterTable::add(Key key, const Cluster& cluster) {
  keys_.push_back(std::move(key));
  sharing_.push_back(-1);
  words_.resize(keys_.size() * to_index(n_words_), 0);
  compute(keys_.size() - 1, cluster);
}

void FilterTable::add_sharing(std::int32_t row, const Cluster& cluster) {
  if (sharing_[to_index(row)] >= 0) return;
  Key key = keys_[to_index(row)];
  key.sharing = true;
  add(std::move(key), cluster);
  sharing_[to_index(row)] = size() - 1;
}

void FilterTable::compute(std::size_t row, const Cluster& cluster) {
  fill(keys_[row], cluster, true, words_.data() + row * to_index(n_words_));
  if (!reserved_) return;
  lasting_.resize(words_.size(), 0);
  fill(keys_[row], cluster, false, lasting_.data() + row * to_index(n_words_));
}

void FilterTable::fill(const Key& key, const Cluster& cluster, bool for_now, std::uint64_t* words) const {
  if (key.gpu_type < 0) return;
  const auto set = [&](std::int32_t n) { words[n / 64] |= std::uint64_t{1} << (n % 64); };
  if (!key.required_nodes.empty()) {
    for (const auto& id : key.required_nodes) {
      const auto rank = cluster.node_rank->find(id);
      if (rank != cluster.node_rank->end() && allows(key, cluster, rank->second, for_now)) set(rank->second);
    }
  } else {
    std::vector<std::uint8_t> class_allowed(class_member_.size());
    for (std::size_t c = 0; c < class_member_.size(); ++c) class_allowed[c] = allows(key, cluster, class_member_[c], for_now) ? 1 : 0;
    for (std::size_t n = 0; n < class_of_node_.size(); ++n) {
      if (class_allowed[to_index(class_of_node_[n])] != 0) set(static_cast<std::int32_t>(n));
    }
  }
  for (const auto& id : key.excluded_nodes) {
    const auto rank = cluster.node_rank->find(id);
    if (rank != cluster.node_rank->end()) words[rank->second / 64] &= ~(std::uint64_t{1} << (rank->second % 64));
  }
}

}  // namespace berth::core
