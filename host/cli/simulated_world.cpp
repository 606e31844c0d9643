#include "host/cli/simulated_world.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <utility>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/cli/values.hpp"
#include "host/io/file_error.hpp"
#include "host/io/simulation_files.hpp"
#include "host/sim/overheads.hpp"

namespace berth::cli {
namespace {

bool is_name(const std::string& overheads) { return overheads == "none" || overheads == "default"; }

struct Rate {
  std::string_view name;
  TimeUs sim::FailureRates::*mean;
};
constexpr std::array<Rate, 5> kRates{{{"node", &sim::FailureRates::node_us},
                                      {"gpu", &sim::FailureRates::gpu_us},
                                      {"repair", &sim::FailureRates::repair_us},
                                      {"crash", &sim::FailureRates::crash_gpu_us},
                                      {"kill", &sim::FailureRates::kill_gpu_us}}};

// Failed GPU jobs of the two Acme clusters in their GPU-time, whatever they failed of (docs/simulation.md has the sums).
constexpr TimeUs kSerenCrash = 75'535 * kSecond, kKalosCrash = 674'823 * kSecond;

}  // namespace

void parse_failure_rate(std::string_view text, sim::FailureRates& rates) {
  if (text == "seren" || text == "kalos") {
    rates.crash_gpu_us = text == "seren" ? kSerenCrash : kKalosCrash;
    return;
  }
  const auto [name, value] = parse_key_value(text);
  for (const Rate& rate : kRates) {
    if (rate.name != name) continue;
    rates.*rate.mean = parse_duration(value);
    if (rates.*rate.mean <= 0) throw InvalidArgument(fmt::format("--failures {}: a mean time is above 0", text));
    return;
  }
  throw InvalidArgument(
      fmt::format("--failures: unknown rate '{}'; known: seren, kalos, and node, gpu, repair, crash, kill with =TIME", name));
}

std::vector<Place> SimulatedWorld::inputs() const {
  std::vector<Place> files;
  if (!is_name(overheads)) files.push_back({"--overheads", overheads});
  if (!events.empty()) files.push_back({"--events", events});
  return files;
}

void SimulatedWorld::put_into(sim::SimulationSettings& settings) const {
  std::error_code ignored;
  const bool named = is_name(overheads) || (overheads != "-" && !std::filesystem::exists(overheads, ignored));
  settings.overheads = named ? sim::named_overheads(overheads) : io::parse_overheads(io::read_file(overheads), io::input_name(overheads));
  if (!events.empty()) settings.events = io::parse_events(io::read_file(events), io::input_name(events));
  for (const std::string& text : failures) parse_failure_rate(text, settings.failures);
}

void add_world_options(CLI::App& app, SimulatedWorld& world) {
  app.add_option("--overheads", world.overheads, "What starting, moving and saving cost: none, default, or a file by model")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  app.add_option("--events", world.events, "A file of failures, drains, reclaims and kills")->type_name("FILE");
  app.add_option("--failures", world.failures,
                 "Random failures by mean time: node=720h gpu=5000h repair=4h, of jobs by GPU-time crash=200h kill=1000h; or seren, kalos")
      ->type_name("RATE");
}

}  // namespace berth::cli
