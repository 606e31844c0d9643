#include "host/core/quota/queue_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

class QueueNotes {
 public:
  explicit QueueNotes(const StateImpl& state) : s_(state), columns_(state.gpu_types.size() + 1) {
    cluster_.assign(columns_, 0);
    for (const Node& node : s_.nodes) {
      cluster_[column_of(node.gpu_type)] += node.gpus;
      cluster_[columns_ - 1] += node.gpus;
    }
    stated_.assign(s_.queues.size() * columns_, nullptr);
    guarantee_.assign(stated_.size(), 0);
    of_children_.assign(stated_.size(), 0);
    children_.assign(stated_.size(), 0);
    for (std::size_t q = s_.queues.size(); q-- > 0;) {  // parents are before their children
      for (const Quota& quota : s_.queues[q].quotas) stated_[q * columns_ + column_of(quota.gpu_type)] = &quota;
      for (std::size_t c = 0; c < columns_; ++c) add_up(q, c);
    }
  }

  std::vector<std::string> all() {
    for (std::size_t q = 0; q < s_.queues.size(); ++q) {
      for (const Quota& quota : s_.queues[q].quotas) look(q, column_of(quota.gpu_type), quota);
    }
    for (std::size_t c = 0; c < columns_; ++c) roots(c);
    return std::move(notes_);
  }

 private:
  std::size_t column_of(const std::string& type) const { return type == "*" ? columns_ - 1 : to_index(s_.type_index.at(type)); }

  void add_up(std::size_t q, std::size_t c) {
    const std::size_t at = q * columns_ + c;
    guarantee_[at] = std::max(stated_[at] == nullptr ? 0 : stated_[at]->guarantee, of_children_[at]);
    if (c + 1 == columns_ && !states_guarantee(q, c)) guarantee_[at] = std::max(guarantee_[at], of_types(q));
    if (s_.queue_parent[q] < 0 || guarantee_[at] == 0) return;
    const std::size_t above = to_index(s_.queue_parent[q]) * columns_ + c;
    of_children_[above] = saturating_add(of_children_[above], guarantee_[at]);
    ++children_[above];
  }

  bool states_guarantee(std::size_t q, std::size_t c) const {
    return stated_[q * columns_ + c] != nullptr && stated_[q * columns_ + c]->guarantee > 0;
  }

  std::int64_t of_types(std::size_t q) const {
    std::int64_t sum = 0;
    for (std::size_t c = 0; c + 1 < columns_; ++c) sum = saturating_add(sum, guarantee_[q * columns_ + c]);
    return sum;
  }

  // The lower of limit, and guarantee and borrowing; -1: none.
  static std::int64_t limit(const Quota* quota) {
    if (quota == nullptr) return kUnlimited;
    if (quota->borrowing < 0) return quota->limit;
    const std::int64_t most = quota->guarantee + quota->borrowing;
    return quota->limit < 0 ? most : std::min(quota->limit, most);
  }

  // "8 H100 GPUs"
  std::string gpus(std::int64_t n, std::size_t c) const {
    const std::string type = c + 1 == columns_ ? "" : s_.gpu_types[c].id + " ";
    return fmt::format("{} {}GPU{}", n, type, n == 1 ? "" : "s");
  }

  template <class... Args>
  void add(std::size_t q, fmt::format_string<Args...> text, Args&&... args) {
    notes_.push_back("queue " + s_.queues[q].id + ": " + fmt::format(text, std::forward<Args>(args)...));
  }

  // "its parent p"
  std::string named_above(std::size_t q, std::int32_t up) const {
    return (up == s_.queue_parent[q] ? "its parent " : "above it ") + s_.queues[to_index(up)].id;
  }

  void look(std::size_t q, std::size_t c, const Quota& quota) {
    if (c + 1 < columns_ && cluster_[c] == 0) {
      add(q, "has a quota of {} GPUs; no node has one", s_.gpu_types[c].id);
      return;
    }
    const std::string guarantee = gpus(quota.guarantee, c);
    if (quota.guarantee > cluster_[c]) add(q, "has a guarantee of {}; the cluster has {}", guarantee, cluster_[c]);
    if (quota.limit >= 0 && quota.limit < quota.guarantee) {
      add(q, "has a guarantee of {}, and a limit of {}: it never has more than the limit", guarantee, quota.limit);
    }
    look_at_limit_of_all(q, c, quota);
    bool is_limited = false, is_said = false;
    for (std::int32_t up = s_.queue_parent[q]; up >= 0; up = s_.queue_parent[to_index(up)]) {
      const Quota* const above = stated_[to_index(up) * columns_ + c];
      is_limited = is_limited || limit(above) >= 0;
      if (is_said || above == nullptr) continue;
      is_said = true;
      if (limit(above) >= 0 && quota.guarantee > limit(above)) {
        add(q, "has a guarantee of {}; {} has a limit of {}", guarantee, named_above(q, up), limit(above));
      } else if (above->guarantee > 0 && quota.guarantee > above->guarantee) {
        add(q, "has a guarantee of {}; {} has one of {}", guarantee, named_above(q, up), above->guarantee);
      } else {
        is_said = false;
      }
    }
    if (quota.lending >= 0 && !is_limited) {
      add(q, "lends {} of {}, which has no effect: no queue above it has a limit of them", quota.lending, guarantee);
    }
    const std::size_t at = q * columns_ + c;
    if (children_[at] > 1 && limit(&quota) >= 0 && of_children_[at] > limit(&quota)) {
      add(q, "has a limit of {}; guarantees of the queues below it add up to {}", gpus(limit(&quota), c), of_children_[at]);
    } else if (children_[at] > 1 && quota.guarantee > 0 && of_children_[at] > quota.guarantee) {
      add(q, "has a guarantee of {}; those of the queues below it add up to {}", guarantee, of_children_[at]);
    }
  }

  // Limits of all types hold for GPUs of each.
  void look_at_limit_of_all(std::size_t q, std::size_t c, const Quota& quota) {
    const std::size_t all = columns_ - 1;
    if (c == all) {
      std::int64_t of_types = 0, most = 0;
      for (const Quota& one : s_.queues[q].quotas) {
        if (one.gpu_type == "*") continue;
        of_types = saturating_add(of_types, one.guarantee);
        most = std::max(most, one.guarantee);
      }
      const std::int64_t limited = limit(&quota);
      if (limited < 0 || of_types <= limited || most > limited) return;  // that of one type has a note of its own
      add(q, "has a limit of {}; its guarantees of GPU types add up to {}", gpus(limited, all), of_types);
      return;
    }
    for (auto at = static_cast<std::int32_t>(q); at >= 0; at = s_.queue_parent[to_index(at)]) {
      const std::int64_t limited = limit(stated_[to_index(at) * columns_ + all]);
      if (limited < 0 || quota.guarantee <= limited) continue;
      const std::string whose = to_index(at) == q ? "it" : named_above(q, at);
      add(q, "has a guarantee of {}; {} has a limit of {}", gpus(quota.guarantee, c), whose, gpus(limited, all));
      return;
    }
  }

  void roots(std::size_t c) {
    std::int64_t sum = 0;
    int with = 0;
    bool is_stated = c + 1 < columns_;  // guarantees of types alone have a note by type
    for (std::size_t q = 0; q < s_.queues.size(); ++q) {
      if (s_.queue_parent[q] >= 0 || guarantee_[q * columns_ + c] == 0) continue;
      sum = saturating_add(sum, guarantee_[q * columns_ + c]);
      ++with;
      is_stated = is_stated || states_guarantee(q, c);
    }
    const bool no_node = c + 1 < columns_ && cluster_[c] == 0;
    if (with < 2 || !is_stated || no_node || sum <= cluster_[c]) return;
    notes_.push_back(fmt::format("guarantees of the queues without a parent add up to {}; the cluster has {}", gpus(sum, c), cluster_[c]));
  }

  const StateImpl& s_;
  std::size_t columns_;
  std::vector<std::int64_t> cluster_;  // [columns] GPUs of all nodes
  // [queues * columns]
  std::vector<const Quota*> stated_;
  std::vector<std::int64_t> guarantee_;    // its own, or that of its children if that is more
  std::vector<std::int64_t> of_children_;  // the sum of these
  std::vector<std::int32_t> children_;     // how many have one
  std::vector<std::string> notes_;
};

}  // namespace

std::vector<std::string> queue_notes(const StateView& state) { return QueueNotes(impl_of(state)).all(); }

}  // namespace berth::core
