#include <fmt/format.h>

#include <algorithm>

#include "host/core/base/wide.hpp"
#include "host/core/model/shape_id.hpp"
#include "host/io/formats/read_parts.hpp"

namespace berth::io {
namespace {

// GPU counts of the range, at most kMaxShapes + 1. Largest first, because earlier shapes are preferred.
std::vector<std::int32_t> counts(const GpuRange& gpus, std::int32_t node_gpus) {
  std::vector<std::int32_t> out;
  const auto put = [&](std::int64_t n) {
    if (n >= gpus.least && n <= gpus.most && out.size() <= static_cast<std::size_t>(kMaxShapes))
      out.push_back(static_cast<std::int32_t>(n));
  };
  switch (gpus.step) {
    case GpuRange::Step::kAny:
      for (std::int64_t n = gpus.least; n <= gpus.most && n - gpus.least <= kMaxShapes; ++n) put(n);
      break;
    case GpuRange::Step::kPow2:
      for (std::int64_t n = 1; n <= gpus.most; n *= 2) put(n);
      break;
    case GpuRange::Step::kNode: {
      if (node_gpus <= 0) break;
      const std::int64_t first = (gpus.least + node_gpus - 1) / node_gpus;
      for (std::int64_t k = first; k * node_gpus <= gpus.most && k - first <= kMaxShapes; ++k) put(k * node_gpus);
      break;
    }
  }
  std::reverse(out.begin(), out.end());
  return out;
}

// The linear scaling rule up to the maximum learning rate. Beyond it the global batch is constant and split over more GPUs.
// (ONES, SC'21 artifact, which rounds to the nearest.) @returns the problem, or empty.
std::string scale_batch(const GpuRange& gpus, Shape& shape) {
  const core::Wide linear = core::Wide{gpus.learning_rate_pico} * shape.gpus;
  shape.local_batch = gpus.local_batch;
  if (gpus.max_learning_rate_pico == 0 || linear <= gpus.max_learning_rate_pico) {
    if (linear > kScoreCeiling) return fmt::format("the learning rate on {} GPUs is too large", shape.gpus);
    shape.learning_rate_pico = static_cast<std::int64_t>(linear);
    return {};
  }
  shape.learning_rate_pico = gpus.max_learning_rate_pico;
  const core::Wide twice = core::Wide{2} * gpus.local_batch * gpus.max_learning_rate_pico;
  const auto most = static_cast<std::int64_t>((twice + gpus.learning_rate_pico) / (2 * gpus.learning_rate_pico));
  shape.local_batch = static_cast<std::int32_t>(most / shape.gpus);
  if (gpus.local_batch == 0 || shape.local_batch > 0) return {};
  return fmt::format("'max_learning_rate' allows a batch of {} samples, less than one for each of {} GPUs", most, shape.gpus);
}

}  // namespace

std::string expand_shapes(const GpuRange& gpus, const std::vector<std::string>& types, const std::vector<std::int32_t>& node_gpus,
                          std::vector<Shape>& out) {
  if (gpus.least > gpus.most) return fmt::format("'gpus' has min {} above max {}", gpus.least, gpus.most);
  if (gpus.max_learning_rate_pico > 0 && (gpus.learning_rate_pico == 0 || gpus.learning_rate_pico > gpus.max_learning_rate_pico)) {
    return "'gpus' has a 'max_learning_rate' and no 'learning_rate' of at most that";
  }
  const std::size_t n_types = types.empty() ? 1 : types.size();
  for (std::size_t t = 0; t < n_types; ++t) {
    const std::int32_t node = t < node_gpus.size() ? node_gpus[t] : 0;
    for (const std::int32_t n : counts(gpus, node)) {
      Shape& shape = out.emplace_back();
      shape.gpus = n;
      if (!types.empty()) shape.gpu_type = types[t];
      shape.id = core::default_shape_id(n, shape.gpu_type);
      if (std::string problem = scale_batch(gpus, shape); !problem.empty()) return problem;
    }
    if (out.size() > static_cast<std::size_t>(kMaxShapes)) {
      return fmt::format("'gpus' and 'types' expand to more than {} shapes; \"step\": \"pow2\" gives fewer", kMaxShapes);
    }
  }
  if (out.empty() && gpus.step == GpuRange::Step::kNode) {
    return fmt::format("no multiple of a whole node lies within {} to {} GPUs", gpus.least, gpus.most);
  }
  if (out.empty()) return fmt::format("no power of two lies within {} to {} GPUs", gpus.least, gpus.most);
  return {};
}

}  // namespace berth::io
