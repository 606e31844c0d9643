#include "host/sim/base/overheads.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "berth/error.hpp"

namespace berth::sim {

Overheads named_overheads(std::string_view name) {
  Overheads overheads;
  overheads.name = name;
  if (name == "none") return overheads;
  if (name != "default") throw InvalidArgument(fmt::format("unknown overheads '{}'; known: none, default, or a file", name));
  overheads.general.costs.restart_us = 30 * kSecond;
  return overheads;
}

bool saves_while_running(const Overheads& overheads) {
  const auto saves = [](const ModelOverheads& one) { return one.costs.checkpoint_every_us > 0 && one.costs.checkpoint_save_us > 0; };
  return saves(overheads.general) ||
         std::any_of(overheads.models.begin(), overheads.models.end(), [&](const auto& model) { return saves(model.second); });
}

}  // namespace berth::sim
