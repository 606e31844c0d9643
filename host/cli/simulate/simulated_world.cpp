#include "host/cli/simulate/simulated_world.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <utility>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/cli/base/echoed.hpp"
#include "host/cli/base/values.hpp"
#include "host/io/files/file_error.hpp"
#include "host/io/formats/simulation_files.hpp"
#include "host/sim/base/overheads.hpp"

namespace berth::cli {
namespace {

bool is_name(const std::string& overheads) { return overheads == "none" || overheads == "default"; }

struct NamedRate {
  std::string_view name;
  TimeUs sim::FailureRates::*mean;
};
constexpr std::array<NamedRate, 5> kRates{{{"node", &sim::FailureRates::node_us},
                                           {"gpu", &sim::FailureRates::gpu_us},
                                           {"repair", &sim::FailureRates::repair_us},
                                           {"crash", &sim::FailureRates::crash_gpu_us},
                                           {"kill", &sim::FailureRates::kill_gpu_us}}};

// Failed GPU jobs of the two Acme clusters per GPU-time, whatever the cause (docs/simulation-reference.md has the
// sums).
constexpr TimeUs kSerenCrash = 75'535 * kSecond, kKalosCrash = 674'823 * kSecond;

}  // namespace

void parse_failure_rate(std::string_view text, sim::FailureRates& rates) {
  const auto twice = [&](std::string_view rate) {
    return InvalidArgument(fmt::format("--failures {}: the rate '{}' is stated twice", echoed(text), rate));
  };
  if (text == "seren" || text == "kalos") {
    if (rates.crash_gpu_us > 0) throw twice("crash");
    rates.crash_gpu_us = text == "seren" ? kSerenCrash : kKalosCrash;
    return;
  }
  const auto [name, value] = parse_key_value(text);
  for (const NamedRate& rate : kRates) {
    if (rate.name != name) continue;
    if (rates.*rate.mean > 0) throw twice(name);
    rates.*rate.mean = parse_duration(value);
    if (rates.*rate.mean <= 0) throw InvalidArgument(fmt::format("--failures {}: a mean time is above 0", echoed(text)));
    return;
  }
  throw InvalidArgument(
      fmt::format("--failures: unknown rate '{}'; known: seren, kalos, and node, gpu, repair, crash, kill with =TIME", echoed(name)));
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
  if (!events.empty()) {
    io::EventsDocument read = io::parse_events(io::read_file(events), io::input_name(events));
    settings.events = std::move(read.cluster);
    settings.queue_changes = std::move(read.queues);
  }
  for (const std::string& text : failures) parse_failure_rate(text, settings.failures);
}

void add_world_options(CLI::App& app, SimulatedWorld& world) {
  app.add_option("--overheads", world.overheads, "Charge starts, moves and checkpoints: none, default, or a file by model")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  app.add_option("--events", world.events, "Read failures, drains, reclaims, kills and quotas from FILE")->type_name("FILE");
  app.add_option("--failures", world.failures, "Draw failures: seren, kalos, or node=, gpu=, repair=, crash=, kill=TIME")
      ->type_name("RATE");
}

}  // namespace berth::cli
