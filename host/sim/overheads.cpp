#include "host/sim/overheads.hpp"

#include <fmt/format.h>

#include "berth/error.hpp"

namespace berth::sim {

Costs overheads(std::string_view name) {
  Costs costs;
  if (name == "none") return costs;
  if (name != "default") throw InvalidArgument(fmt::format("unknown overheads '{}'; known: none, default", name));
  costs.restart_us = 30 * kSecond;
  return costs;
}

}  // namespace berth::sim
