#include "host/cli/simulated_iterations.hpp"

#include <fmt/format.h>

#include "berth/error.hpp"
#include "host/cli/common_options.hpp"
#include "host/cli/values.hpp"
#include "host/io/measured_number.hpp"

namespace berth::cli {

sim::NetworkCost IterationOptions::network_cost() const {
  if (!wanted() && gpu_jobs != 1) throw InvalidArgument("--gpu-jobs: it is for --fidelity iteration");
  if (!wanted() && !network.empty()) throw InvalidArgument("--network: it is for --fidelity iteration");
  sim::NetworkCost cost;
  for (const std::string& text : network) {
    const auto [name, value] = parse_key_value(text);
    const auto number = io::parse_measured(value, 6);
    if (!number || *number > 1'000'000'000'000) throw InvalidArgument(fmt::format("--network {}: expected a number of at most 10^6", text));
    if (name == "a") {
      cost.latency_us = *number;
    } else if (name == "b") {
      if (*number == 0) throw InvalidArgument("--network b=0: a byte takes a time above 0");
      cost.byte_fs = *number;
    } else if (name == "eta") {
      cost.contention_fs = *number;
    } else {
      throw InvalidArgument(fmt::format("--network: unknown '{}'; known: a (seconds), b and eta (nanoseconds for each byte)", name));
    }
  }
  return cost;
}

void add_iteration_options(CLI::App& app, IterationOptions& options) {
  app.add_option("--fidelity", options.fidelity, "How closely jobs are followed: by their rate, or through each iteration")
      ->check(CLI::IsMember({"rate", "iteration"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--gpu-jobs", options.gpu_jobs, "Of iterations: at most so many jobs share a GPU (ada-srsf)")
      ->check(whole_number<std::int32_t>(1, 64))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--network", options.network,
                 "Of iterations: what an all-reduce takes over the cards of its nodes, a=SECONDS, b=NS and eta=NS for each byte")
      ->type_name("NAME=NUMBER");
}

}  // namespace berth::cli
