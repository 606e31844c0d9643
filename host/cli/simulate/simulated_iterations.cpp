#include "host/cli/simulate/simulated_iterations.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "berth/error.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/echoed.hpp"
#include "host/cli/base/values.hpp"
#include "host/io/files/measured_number.hpp"
#include "host/sim/iterations/ada_srsf.hpp"

namespace berth::cli {

namespace {

sim::NetworkCost fabric_cost(std::string_view name) {
  std::string known;
  for (const sim::FabricCost& fabric : sim::kFabricCosts) {
    if (fabric.name == name) return fabric.cost;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", fabric.name);
  }
  throw InvalidArgument(fmt::format("--network fabric: unknown '{}'; known: {}", echoed(std::string(name)), known));
}

void require_links(const Snapshot& cluster, const std::string& fidelity) {
  const auto has_nic = [](const Node& node) { return node.nics > 0 && node.nic_bytes_per_s > 0; };
  const auto has_uplink = [](const Domain& domain) { return domain.uplink_bytes_per_s > 0; };
  if (std::none_of(cluster.nodes.begin(), cluster.nodes.end(), has_nic) &&
      std::none_of(cluster.domains.begin(), cluster.domains.end(), has_uplink)) {
    throw InvalidArgument(fmt::format("--fidelity {}: the cluster states no bandwidth, neither of NICs nor of uplinks", fidelity));
  }
}

}  // namespace

sim::LinkModel IterationOptions::links() const {
  if (fidelity == "tiers") return sim::LinkModel::kTiers;
  return fidelity == "shared_links" ? sim::LinkModel::kShared : sim::LinkModel::kNone;
}

sim::NetworkCost IterationOptions::network_cost() const {
  if (!wanted() && gpu_jobs != 1) throw InvalidArgument("--gpu-jobs: it is for --fidelity iteration");
  if (!wanted() && !network.empty()) throw InvalidArgument("--network: it is for --fidelity iteration");
  sim::NetworkCost cost;
  for (const std::string& text : network) {
    const auto [name, value] = parse_key_value(text);
    if (name == "fabric") {
      cost = fabric_cost(value);
      continue;
    }
    const auto number = io::parse_measured(value, 6);
    if (!number || *number > 1'000'000'000'000)
      throw InvalidArgument(fmt::format("--network {}: expected a number of at most 10^6", echoed(text)));
    if (name == "a") {
      cost.latency_us = *number;
    } else if (name == "b") {
      if (*number == 0) throw InvalidArgument("--network b=0: a byte takes a time above 0");
      cost.byte_fs = *number;
    } else if (name == "eta") {
      cost.contention_fs = *number;
    } else {
      throw InvalidArgument(
          fmt::format("--network: unknown '{}'; known: fabric, a (seconds), b and eta (nanoseconds for each byte)", echoed(name)));
    }
  }
  return cost;
}

void IterationOptions::put_into(sim::SimulationSettings& settings, const Snapshot& cluster) const {
  settings.links = links();
  if (settings.links != sim::LinkModel::kNone) require_links(cluster, fidelity);
  if (wanted()) settings.iterations = sim::IterationSettings{gpu_jobs, network_cost(), {}};
}

void check_iterations(const IterationOptions& options, const std::string& estimates, const std::vector<Request>& requests,
                      bool other_programs) {
  (void)options.network_cost();
  const auto is_ada_srsf = [](const Request& request) { return request.policy == sim::ada_srsf_info().name; };
  for (const Request& request : requests) {
    if (!is_ada_srsf(request)) continue;
    (void)sim::ada_srsf_settings(request.params);
    if (!options.wanted()) throw InvalidArgument("policy 'ada-srsf' orders what jobs do in an iteration: it needs --fidelity iteration");
    if (estimates != "oracle") throw InvalidArgument("policy 'ada-srsf' goes by remaining work: it needs --estimates oracle");
  }
  if (options.gpu_jobs > 1 && (other_programs || !std::all_of(requests.begin(), requests.end(), is_ada_srsf))) {
    throw InvalidArgument("--gpu-jobs: only 'ada-srsf' places several jobs on a GPU");
  }
}

void add_iteration_options(CLI::App& app, IterationOptions& options) {
  app.add_option("--fidelity", options.fidelity, "Follow jobs by rate, by place, on shared links, or by iteration")
      ->check(CLI::IsMember({"rate", "tiers", "shared_links", "iteration"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--gpu-jobs", options.gpu_jobs, "With iterations, let N jobs share a GPU (ada-srsf)")
      ->check(whole_number<std::int32_t>(1, 64))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--network", options.network, "With iterations, all-reduces: fabric=NAME, a=SECONDS, b= and eta=NS a byte")
      ->type_name("NAME=VALUE");
}

}  // namespace berth::cli
