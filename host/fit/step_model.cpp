#include "host/fit/step_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/core/base/violations.hpp"

namespace berth::fit {
namespace {

double seconds_of(const StepModel& model, StepTerm term) { return model.seconds.at(static_cast<std::size_t>(term)); }

}  // namespace

double step_seconds(const StepModel& model, const StepSetting& setting) {
  const double batch = model.has_batch ? setting.batch : 1;
  const auto other = model.slowdown.find(setting.co_runner);
  const double slower = other == model.slowdown.end() ? 0 : other->second;
  const double compute = (seconds_of(model, StepTerm::kSample) * batch + seconds_of(model, StepTerm::kFixed)) * (1 + slower);
  double cores = setting.cores;
  if (model.saturation > 0) cores = cores > 0 ? std::min(cores, model.saturation) : model.saturation;
  const double input = cores > 0 ? seconds_of(model, StepTerm::kInput) * batch / cores : 0;
  const double others = setting.gpus - 1;
  const bool one_node = setting.nodes <= 1;
  const double volume = seconds_of(model, one_node ? StepTerm::kNodeVolume : StepTerm::kFabricVolume);
  const double worker = seconds_of(model, one_node ? StepTerm::kNodeWorker : StepTerm::kFabricWorker);
  return std::max(compute, input) + 2 * others / setting.gpus * volume + others * worker;
}

double step_rate(const StepModel& model, const StepSetting& setting) {
  return (model.has_batch ? setting.gpus * setting.batch : 1) / step_seconds(model, setting);
}

std::string beyond_range(const StepModel& model, const StepSetting& setting) {
  const StepRange& range = model.range;
  const auto outside = [](double value, double least, double most) { return value < least || value > most; };
  if (model.has_batch && outside(setting.batch, range.least_batch, range.most_batch))
    return fmt::format("batch {:g}, measured {:g} to {:g}", setting.batch, range.least_batch, range.most_batch);
  if (setting.nodes <= 1 && outside(setting.gpus, range.least_on_node, range.most_on_node))
    return fmt::format("{} on a node, measured {}", core::counted(setting.gpus, "GPU"),
                       range.most_on_node == 0    ? "none"
                       : range.least_on_node == 1 ? fmt::format("up to {}", range.most_on_node)
                                                  : fmt::format("{} to {}", range.least_on_node, range.most_on_node));
  if (setting.nodes > 1 && outside(setting.gpus, range.least_on_nodes, range.most_on_nodes))
    return range.most_on_nodes == 0
               ? fmt::format("{} GPUs on {} nodes, measured on one", setting.gpus, setting.nodes)
               : fmt::format("{} GPUs on several nodes, measured {} to {}", setting.gpus, range.least_on_nodes, range.most_on_nodes);
  if (setting.nodes > range.most_nodes) return fmt::format("{} nodes, measured up to {}", setting.nodes, range.most_nodes);
  if (setting.cores > 0 && range.most_cores > 0 && outside(setting.cores, range.least_cores, range.most_cores))
    return fmt::format("{:g} cores a GPU, measured {:g} to {:g}", setting.cores, range.least_cores, range.most_cores);
  if (!setting.co_runner.empty() && model.slowdown.count(setting.co_runner) == 0)
    return fmt::format("co-runner '{}', which was not measured", setting.co_runner);
  return {};
}

}  // namespace berth::fit
