#include "host/sim/base/overheads.hpp"

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

}  // namespace berth::sim
