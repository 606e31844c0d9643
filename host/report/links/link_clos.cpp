#include "host/report/links/link_clos.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/model/level_order.hpp"

namespace berth::report {
namespace {

constexpr auto kSwitch = static_cast<std::size_t>(TopologyKind::kSwitch);

// The leaves below one domain that states its spines.
struct SpineFabric {
  core::ClosFabric clos;
  std::vector<std::string> leaves;  // paths
};

class Fabrics {
 public:
  explicit Fabrics(const ClusterState& state) : view_(state) {
    const Snapshot snapshot = state.snapshot();
    std::map<std::string, const Domain*> domains;
    for (const Domain& domain : snapshot.domains)
      if (domain.topology == TopologyKind::kSwitch) domains.emplace(core::domain_path(domain), &domain);
    for (std::size_t n = 0; n < view_.nodes().size(); ++n) {
      const Node& node = view_.nodes()[n];
      const auto leaf = domains.find(node.domain[kSwitch]);
      const auto above = leaf == domains.end() ? domains.end() : domains.find(leaf->second->parent);
      leaf_of_.push_back({-1, -1});
      if (above == domains.end() || above->second->spine_count < 1 || above->second->spine_count > core::kMostSpines) continue;
      leaf_of_.back() = leaf_at(above->first, above->second->spine_count, leaf->first);
      gpus_[leaf_of_.back()] += node.gpus;
      if (node.state == NodeState::kReady) fabric(leaf_of_.back()).clos.free_gpus[to_index(leaf_of_.back().second)] += node.gpus;
      oversubscription_[leaf_of_.back()] = leaf->second->oversubscription_ppm;
    }
    for (const auto& [at, gpus] : gpus_) {
      core::ClosFabric& clos = fabric(at).clos;
      const std::int64_t links = core::mul_div(gpus, 1'000'000, std::max<std::int64_t>(1, oversubscription_[at]));
      for (std::int32_t spine = 0; spine < clos.spines; ++spine) clos.at(at.second, spine) = static_cast<std::int32_t>(links / clos.spines);
    }
  }
  using LeafAt = std::pair<std::int32_t, std::int32_t>;  // fabric, leaf

  std::vector<SpineFabric>& all() { return fabrics_; }
  LeafAt leaf_of(std::int32_t node) const { return leaf_of_[to_index(node)]; }

 private:
  SpineFabric& fabric(const LeafAt& at) { return fabrics_[to_index(at.first)]; }
  LeafAt leaf_at(const std::string& above, std::int32_t spines, const std::string& leaf) {
    const auto [found, is_new] = fabric_of_.try_emplace(above, static_cast<std::int32_t>(fabrics_.size()));
    if (is_new) {
      fabrics_.emplace_back();
      fabrics_.back().clos.spines = spines;
    }
    SpineFabric& one = fabrics_[to_index(found->second)];
    const auto [place, is_new_leaf] = leaf_index_.try_emplace(leaf, static_cast<std::int32_t>(one.leaves.size()));
    if (is_new_leaf) {
      one.leaves.push_back(leaf);
      one.clos.free_gpus.push_back(0);
      one.clos.links.resize(one.clos.links.size() + to_index(spines), 0);
    }
    return {found->second, place->second};
  }

  StateView view_;
  std::vector<SpineFabric> fabrics_;
  std::map<std::string, std::int32_t> fabric_of_, leaf_index_;
  std::vector<LeafAt> leaf_of_;  // [nodes]
  std::map<LeafAt, std::int64_t> gpus_, oversubscription_;
};

void describe(const SpineFabric& fabric, const core::VirtualClos& clos, ReservedClos& out) {
  out.answer = clos.leaves.size() < 2 ? ReservedClos::Answer::kOneLeaf : ReservedClos::Answer::kReserves;
  for (const core::LeafGpus& one : clos.leaves) {
    out.leaves.push_back(fabric.leaves[to_index(one.leaf)]);
    out.links = std::max(out.links, clos.links(one));
  }
  out.spines = clos.spines;
}

void add_placed(Fabrics& fabrics, const PlacedGang& gang, LinkReport& report) {
  std::map<Fabrics::LeafAt, std::int32_t> gpus;
  std::set<std::int32_t> used;
  for (const core::NodeGpus& here : gang.nodes) {
    gpus[fabrics.leaf_of(here.node)] += here.gpus;
    used.insert(fabrics.leaf_of(here.node).first);
  }
  if (gpus.size() < 2) return;
  ReservedClos out;
  out.job = gang.job;
  out.is_placed = true;
  out.answer = ReservedClos::Answer::kSeveralFabrics;
  if (used.size() == 1 && *used.begin() >= 0) {
    SpineFabric& fabric = fabrics.all()[to_index(*used.begin())];
    std::vector<core::LeafGpus> leaves;
    leaves.reserve(gpus.size());
    for (const auto& [at, n] : gpus) leaves.push_back({at.second, n});
    const auto clos = core::virtual_clos_of(fabric.clos, leaves);
    out.answer = ReservedClos::Answer::kNone;
    if (clos) {
      describe(fabric, *clos, out);
      core::reserve(fabric.clos, *clos, false);
    }
  }
  report.reserved.push_back(std::move(out));
}

// In the first fabric that has a network for it.
void add_waiting(Fabrics& fabrics, std::int32_t job, std::int32_t gpus, LinkReport& report) {
  ReservedClos out;
  out.job = job;
  for (SpineFabric& fabric : fabrics.all()) {
    bool decided = true;
    const auto clos = core::virtual_clos(fabric.clos, gpus, decided);
    if (!decided) out.answer = ReservedClos::Answer::kNotDecided;
    if (!clos) continue;
    describe(fabric, *clos, out);
    core::reserve(fabric.clos, *clos, true);
    break;
  }
  report.reserved.push_back(std::move(out));
}

}  // namespace

void add_clos(const ClusterState& state, const std::vector<PlacedGang>& placed, LinkReport& report) {
  Fabrics fabrics(state);
  report.spine_fabrics = static_cast<std::int32_t>(fabrics.all().size());
  if (fabrics.all().empty()) return;
  const StateView view = state;
  std::set<std::int32_t> has_gpus;
  std::int32_t most_on_a_node = 0;
  for (const Node& node : view.nodes()) most_on_a_node = std::max(most_on_a_node, node.gpus);
  for (const PlacedGang& gang : placed) {
    has_gpus.insert(gang.job);
    for (const core::NodeGpus& here : gang.nodes) {
      const Fabrics::LeafAt at = fabrics.leaf_of(here.node);
      if (at.first < 0) continue;
      std::int32_t& free = fabrics.all()[to_index(at.first)].clos.free_gpus[to_index(at.second)];
      free = std::max(0, free - here.gpus);
    }
  }
  for (const PlacedGang& gang : placed) add_placed(fabrics, gang, report);
  for (const std::int32_t job : view.job_order()) {
    const Job& description = *view.jobs()[to_index(job)].job;
    const Shape& shape = description.shapes.front();
    if (has_gpus.count(job) == 0 && shape.share_ppm == kWholeGpu && shape.gpus > most_on_a_node)
      add_waiting(fabrics, job, shape.gpus, report);
  }
}

}  // namespace berth::report
