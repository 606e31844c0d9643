#include "host/io/topology/switch_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <unordered_map>

namespace berth::io {
namespace {

constexpr std::array<std::string_view, 6> kHeightNames{"leaf", "spine", "core", "level4", "level5", "level6"};
static_assert(kHeightNames.size() == kMaxLevels - 2, "besides node and cluster");

using SwitchIndex = std::uint32_t;

class SwitchTree {
 public:
  SwitchTree(const std::vector<ListedSwitch>& list, std::string_view what, const std::string& file)
      : list_(list), what_(what), file_(file), children_(list.size()), height_(list.size(), 0), stands_for_(list.size()) {
    find_children();
    find_heights();
    collapse();
  }

  /// Switches of which each becomes a domain, in the order of the list; and their parents, or -1.
  void add_to(TopologyModel& model, TopologyKind kind) const {
    std::vector<std::int32_t> domain_of(list_.size(), -1);
    std::vector<ModelDomain>& domains = model.of(kind);
    for (std::size_t i = 0; i < list_.size(); ++i) {
      const ListedSwitch& one = list_[i];
      if (stands_for_[i] != i) continue;
      domain_of[i] = static_cast<std::int32_t>(domains.size());
      ModelDomain& domain = domains.emplace_back();
      domain.id = one.name;
      domain.level = one.level.empty() ? kHeightNames[height_[i] - 1] : one.level;
      domain.link_speed = one.link_speed;
      domain.line = one.line;
    }
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (stands_for_[i] == i) continue;
      ModelDomain& domain = domains[static_cast<std::size_t>(domain_of[stands_for_[i]])];
      domain.parallel.push_back(list_[i].name);
      ++domain.working;
    }
    std::vector<SwitchIndex> parent(list_.size(), kNone);
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (stands_for_[i] != i) continue;
      for (const SwitchIndex child : children_[i]) {
        if (parent[child] != kNone && parent[child] != i) {
          fail(i, fmt::format("{} '{}' lies below '{}' and '{}': no tree", what_, list_[child].name, list_[parent[child]].name,
                              list_[i].name));
        }
        parent[child] = static_cast<SwitchIndex>(i);
        domains[static_cast<std::size_t>(domain_of[child])].parent = domain_of[i];
      }
    }
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (!list_[i].file.empty()) model.set_file(list_[i].file);
      for (const std::string& name : list_[i].nodes) model.place(model.node(name, list_[i].line), kind, domain_of[i], list_[i].line);
    }
  }

 private:
  static constexpr SwitchIndex kNone = UINT32_MAX;

  [[noreturn]] void fail(std::size_t i, const std::string& problem) const {
    fail_topology(list_[i].file.empty() ? file_ : list_[i].file, list_[i].line, problem);
  }

  void find_children() {
    std::unordered_map<std::string_view, SwitchIndex> index;
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (!index.emplace(list_[i].name, static_cast<SwitchIndex>(i)).second)
        fail(i, fmt::format("duplicate {} '{}'", what_, list_[i].name));
    }
    for (std::size_t i = 0; i < list_.size(); ++i) {
      for (const std::string& child : list_[i].switches) {
        const auto found = index.find(child);
        if (found == index.end()) fail(i, fmt::format("there is no {} '{}'", what_, child));
        children_[i].push_back(found->second);
      }
      sort_unique(children_[i]);
    }
  }

  // The height of a switch is its longest path down. What lies below itself never gets one.
  void find_heights() {
    std::vector<std::vector<SwitchIndex>> parents(list_.size());
    std::vector<std::size_t> waits_for(list_.size());
    std::vector<SwitchIndex> ready;
    for (std::size_t i = 0; i < list_.size(); ++i) {
      for (const SwitchIndex child : children_[i]) parents[child].push_back(static_cast<SwitchIndex>(i));
      waits_for[i] = children_[i].size();
      if (children_[i].empty()) ready.push_back(static_cast<SwitchIndex>(i));
    }
    std::vector<std::size_t> longest(list_.size(), 1);
    for (std::size_t next = 0; next < ready.size(); ++next) {
      const SwitchIndex i = ready[next];
      height_[i] = longest[i];
      for (const SwitchIndex parent : parents[i]) {
        longest[parent] = std::max(longest[parent], height_[i] + 1);
        if (--waits_for[parent] == 0) ready.push_back(parent);
      }
    }
    const auto unknown = std::find(height_.begin(), height_.end(), 0U);
    if (unknown != height_.end()) fail_cycle(static_cast<SwitchIndex>(unknown - height_.begin()));
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (height_[i] > kHeightNames.size())
        fail(i, fmt::format("{} '{}' is more than {} levels above the nodes", what_, list_[i].name, kHeightNames.size()));
    }
  }

  // Every switch without a height has one below it: going down ends in a cycle.
  [[noreturn]] void fail_cycle(SwitchIndex at) const {
    std::vector<bool> seen(list_.size());
    const auto below = [&](SwitchIndex i) {
      return *std::find_if(children_[i].begin(), children_[i].end(), [&](SwitchIndex child) { return height_[child] == 0; });
    };
    for (; !seen[at]; at = below(at)) seen[at] = true;
    SwitchIndex first = at;
    for (SwitchIndex i = below(at); i != at; i = below(i)) first = std::min(first, i);
    fail(first, fmt::format("{} '{}' lies below itself", what_, list_[first].name));
  }

  // Switches with the same children stand for one domain, from the nodes up.
  void collapse() {
    std::iota(stands_for_.begin(), stands_for_.end(), SwitchIndex{0});
    std::vector<SwitchIndex> order(stands_for_);
    std::stable_sort(order.begin(), order.end(), [&](SwitchIndex a, SwitchIndex b) { return height_[a] < height_[b]; });
    std::map<std::vector<SwitchIndex>, SwitchIndex> first;
    for (const SwitchIndex i : order) {
      if (children_[i].empty() || !list_[i].nodes.empty()) continue;
      for (SwitchIndex& child : children_[i]) child = stands_for_[child];
      sort_unique(children_[i]);
      stands_for_[i] = first.try_emplace(children_[i], i).first->second;
    }
  }

  static void sort_unique(std::vector<SwitchIndex>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }

  const std::vector<ListedSwitch>& list_;
  std::string_view what_;
  const std::string file_;
  std::vector<std::vector<SwitchIndex>> children_;
  std::vector<std::size_t> height_;  // 1: no switches below; 0: lies below itself, or above one that does
  std::vector<SwitchIndex> stands_for_;
};

}  // namespace

void add_switches(const std::vector<ListedSwitch>& switches, TopologyKind kind, std::string_view what, TopologyModel& model) {
  SwitchTree(switches, what, model.file()).add_to(model, kind);
}

}  // namespace berth::io
