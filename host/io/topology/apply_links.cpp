#include "host/io/topology/apply_links.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "berth/error.hpp"
#include "host/core/base/suggest.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/base/wide.hpp"
#include "host/io/json/json_text.hpp"

namespace berth::io {
namespace {

constexpr auto kSwitches = TopologyKind::kSwitch;
constexpr std::int64_t kRatioOne = 1'000'000, kMostRatio = kRatioOne * kRatioOne;

template <class Value>
void check_levels(const std::map<std::string, Value>& by_level, const char* option, const std::vector<std::string>& levels, bool node) {
  for (const auto& [level, value] : by_level) {
    if (node && level == "node") continue;
    if (std::find(levels.begin(), levels.end(), level) != levels.end()) continue;
    const std::vector<std::string_view> known(levels.begin(), levels.end());
    throw InvalidArgument(fmt::format("{}: there is no level '{}' (levels: {}){}", option, cut_utf8(level, 60), fmt::join(levels, ", "),
                                      core::did_you_mean(level, known)));
  }
}

class Links {
 public:
  Links(const LinkOptions& options, TopologyModel& model)
      : o_(options),
        model_(model),
        domains_(model.of(kSwitches)),
        cut_(domains_.size()),
        below_(domains_.size()),
        failed_links_(domains_.size()) {}

  void apply() {
    const std::vector<std::string> levels = model_.levels(kSwitches);
    check_levels(o_.bytes_per_s, "--bandwidth", levels, true);
    check_levels(o_.oversubscription_ppm, "--oversubscription", levels, false);
    check_levels(o_.links, "--links", levels, false);
    for (const auto& [level, ratio] : o_.oversubscription_ppm) {
      if (o_.bytes_per_s.count(level) != 0)
        throw InvalidArgument(fmt::format("level '{}' has --bandwidth and --oversubscription: one follows from the other", level));
    }
    find_domains();
    for (const std::string& name : o_.failed) fail_switch(name);
    for (const auto& [name, n] : o_.failed_links) failed_links_[domain_of("--failed-links", name)] = n;
    fail_nodes();
    set_rates();
  }

 private:
  // By path, by id, and by the names of parallel switches. An id in several places needs its path.
  void find_domains() {
    const std::vector<std::string> paths = model_.paths(kSwitches);
    const auto add = [&](const std::string& name, std::size_t domain) {
      const auto [at, fresh] = index_.try_emplace(name, domain);
      if (!fresh && at->second != domain) at->second = kSeveral;
    };
    for (std::size_t d = 0; d < domains_.size(); ++d) {
      add(domains_[d].id, d);
      for (const std::string& name : domains_[d].parallel) add(name, d);
    }
    for (std::size_t d = 0; d < domains_.size(); ++d) index_[paths[d]] = d;
  }

  std::size_t domain_of(const char* option, const std::string& name) const {
    const auto found = index_.find(name);
    if (found == index_.end()) throw InvalidArgument(fmt::format("{}: there is no switch '{}'", option, cut_utf8(name, 60)));
    if (found->second == kSeveral)
      throw InvalidArgument(fmt::format("{}: several switches are called '{}': give the path, such as parent/{}", option, name, name));
    return found->second;
  }

  void fail_switch(const std::string& name) {
    ModelDomain& domain = domains_[domain_of("--failed", name)];
    if (domain.working > 0) --domain.working;
  }

  // A domain is cut off where no switch of it, or of a domain above, works.
  void fail_nodes() {
    const auto is_cut = [&](std::int32_t d) {
      for (; d >= 0; d = domains_[static_cast<std::size_t>(d)].parent) {
        if (domains_[static_cast<std::size_t>(d)].working == 0) return true;
      }
      return false;
    };
    for (std::size_t d = 0; d < domains_.size(); ++d) cut_[d] = is_cut(static_cast<std::int32_t>(d));
    for (ModelNode& node : model_.nodes) {
      const std::int32_t d = node.domain[static_cast<std::size_t>(kSwitches)];
      if (d >= 0 && cut_[static_cast<std::size_t>(d)]) node.state = NodeState::kFailed;
    }
  }

  // From the nodes up: what a domain gets from below is known before its own uplink.
  void set_rates() {
    const auto nic = o_.bytes_per_s.find("node");
    if (nic != o_.bytes_per_s.end()) {
      for (ModelNode& node : model_.nodes) {
        node.nics = o_.nics;
        node.nic_bytes_per_s = nic->second;
      }
    }
    for (const ModelNode& node : model_.nodes) {
      const std::int32_t d = node.domain[static_cast<std::size_t>(kSwitches)];
      if (d >= 0) add_below(static_cast<std::size_t>(d), core::saturating_mul(node.nics, node.nic_bytes_per_s));
    }
    std::map<std::string, std::int64_t> fastest;
    for (const ModelDomain& domain : domains_) fastest[domain.level] = std::max(fastest[domain.level], domain.link_speed);
    for (const std::size_t d : from_the_nodes_up()) {
      const std::int64_t up = set_rate(d, fastest.at(domains_[d].level));
      if (domains_[d].parent >= 0) add_below(static_cast<std::size_t>(domains_[d].parent), up);
    }
  }

  std::vector<std::size_t> from_the_nodes_up() const {
    std::vector<std::pair<int, std::size_t>> depths;
    for (std::size_t d = 0; d < domains_.size(); ++d) {
      int depth = 0;
      for (std::int32_t p = domains_[d].parent; p >= 0; p = domains_[static_cast<std::size_t>(p)].parent) ++depth;
      depths.emplace_back(-depth, d);
    }
    std::sort(depths.begin(), depths.end());
    std::vector<std::size_t> order;
    order.reserve(depths.size());
    for (const auto& [depth, d] : depths) order.push_back(d);
    return order;
  }

  // 0 is not known; one unknown part makes the sum unknown.
  void add_below(std::size_t d, std::int64_t bytes_per_s) {
    if (below_[d] < 0) return;
    below_[d] = bytes_per_s == 0 ? -1 : std::min(below_[d] + bytes_per_s, kMaxBytes);
  }

  // @returns the bandwidth up with all links, which the domain above counts from below; 0: not known.
  std::int64_t set_rate(std::size_t d, std::int64_t fastest) {
    ModelDomain& domain = domains_[d];
    const ModelDomain* const above = domain.parent < 0 ? nullptr : &domains_[static_cast<std::size_t>(domain.parent)];
    const auto given = o_.links.find(domain.level);
    const std::int64_t to_each = given == o_.links.end() ? 1 : given->second;
    const std::int64_t all = to_each * (above == nullptr ? 1 : above->switches());
    const std::int64_t working = to_each * (above == nullptr ? 1 : above->working) - failed_links_[d];
    if (!cut_[d] && working <= 0) {
      throw InvalidArgument(fmt::format("--failed-links: '{}' has {}, and none is left: give it with --failed instead",
                                        model_.path(kSwitches, static_cast<std::int32_t>(d)), core::counted(all, "link") + " up"));
    }
    const std::int64_t below = std::max<std::int64_t>(below_[d], 0);
    const auto rate = o_.bytes_per_s.find(domain.level);
    const auto ratio = o_.oversubscription_ppm.find(domain.level);
    core::Wide of_all = 0;
    if (rate != o_.bytes_per_s.end()) {
      of_all = core::Wide{rate->second} * all;
      if (domain.link_speed > 0) of_all = core::floor_div(of_all * domain.link_speed, fastest);
    } else if (ratio != o_.oversubscription_ppm.end()) {
      of_all = core::floor_div(core::Wide{below} * kRatioOne, ratio->second);
      domain.oversubscription_ppm = ratio->second;
    }
    if (cut_[d]) return bounded(of_all, 0, kMaxBytes);  // its nodes have failed: no rate of it counts
    if (of_all > 0) domain.uplink_bytes_per_s = bounded(core::floor_div(of_all * working, all), 1, kMaxBytes);
    if (below > 0 && of_all > 0) {
      const std::int64_t least = ratio == o_.oversubscription_ppm.end() ? kRatioOne : 1;
      domain.oversubscription_ppm = bounded(core::floor_div(core::Wide{below} * kRatioOne, domain.uplink_bytes_per_s), least, kMostRatio);
    }
    return bounded(of_all, 0, kMaxBytes);
  }

  static std::int64_t bounded(core::Wide value, std::int64_t least, std::int64_t most) {
    return static_cast<std::int64_t>(std::clamp<core::Wide>(value, least, most));
  }

  static constexpr std::size_t kSeveral = SIZE_MAX;

  const LinkOptions& o_;
  TopologyModel& model_;
  std::vector<ModelDomain>& domains_;
  std::vector<bool> cut_;
  std::vector<std::int64_t> below_;  // bytes per second; -1: not known
  std::vector<std::int64_t> failed_links_;
  std::map<std::string, std::size_t> index_;
};

}  // namespace

void apply_links(const LinkOptions& options, TopologyModel& model) { Links(options, model).apply(); }

}  // namespace berth::io
