#include "host/report/crossed_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "host/core/base/decimal.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/model/level_order.hpp"

namespace berth::report {
namespace {

constexpr std::size_t kMostLinks = 4;

// "p1", "p1/r1": a path and all above it, from the root.
std::vector<std::string> path_and_above(const std::string& path) {
  std::vector<std::string> out;
  for (std::size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) out.push_back(path.substr(0, slash));
  if (!path.empty()) out.push_back(path);
  return out;
}

std::string link_text(const std::string& path, const Domain& domain) {
  std::string text = path + " up";
  if (domain.uplink_bytes_per_s > 0) text += fmt::format(" at {} GB/s", core::decimal_text(domain.uplink_bytes_per_s, 9));
  if (domain.oversubscription_ppm > 1'000'000)
    text += fmt::format(", oversubscribed {}", core::decimal_text(domain.oversubscription_ppm, 6));
  return text;
}

}  // namespace

std::string crossed_links(const Snapshot& cluster, const std::vector<std::string_view>& nodes) {
  constexpr auto kSwitch = static_cast<std::size_t>(TopologyKind::kSwitch);
  const std::set<std::string_view> wanted(nodes.begin(), nodes.end());
  std::set<std::string> paths;
  for (const Node& node : cluster.nodes) {
    if (wanted.count(node.id) > 0) paths.insert(node.domain[kSwitch]);
  }
  if (paths.empty() || paths.count("") > 0) return {};
  std::map<std::string, const Domain*> domains;
  for (const Domain& domain : cluster.domains) {
    if (domain.topology == TopologyKind::kSwitch) domains.emplace(core::domain_path(domain), &domain);
  }
  std::vector<std::string> common = path_and_above(*paths.begin());
  std::set<std::string> used;
  for (const std::string& path : paths) {
    const std::vector<std::string> above = path_and_above(path);
    const auto differ = std::mismatch(common.begin(), common.end(), above.begin(), above.end());
    common.erase(differ.first, common.end());
    used.insert(above.begin(), above.end());
  }
  for (const std::string& path : common) used.erase(path);
  std::vector<std::tuple<std::int64_t, std::string, const Domain*>> links;  // slowest first; without a rate last
  for (const std::string& path : used) {
    const Domain* const domain = domains.at(path);
    links.emplace_back(domain->uplink_bytes_per_s > 0 ? domain->uplink_bytes_per_s : INT64_MAX, path, domain);
  }
  std::sort(links.begin(), links.end());
  std::string text = common.empty() ? "in the cluster" : fmt::format("in {} {}", domains.at(common.back())->level, common.back());
  if (links.empty()) return text;
  text += fmt::format("; crosses {}: ", core::counted(static_cast<std::int64_t>(links.size()), "link"));
  for (std::size_t i = 0; i < std::min(links.size(), kMostLinks); ++i)
    text += (i > 0 ? "; " : "") + link_text(std::get<1>(links[i]), *std::get<2>(links[i]));
  if (links.size() > kMostLinks) text += fmt::format("; and {} more", links.size() - kMostLinks);
  return text;
}

}  // namespace berth::report
