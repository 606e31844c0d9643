#include "host/io/traces/shockwave_batches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "host/core/base/split.hpp"

namespace berth::io {
namespace {

constexpr std::string_view kBatch = " (batch size ";

struct Family {
  std::string_view name;
  std::int64_t samples;     // of an epoch
  std::int32_t most_batch;  // maximum batch of a job; 0: it keeps its batch
};
constexpr std::array<Family, 7> kFamilies{{{"ResNet-18", 50'000, 256},
                                           {"ResNet-50", 100'000, 128},
                                           {"LM", 59'675, 80},
                                           {"Recommendation", 117'907, 8'192},
                                           {"Transformer", 10'000, 0},
                                           {"CycleGAN", 6'287, 0},
                                           {"A3C", 4, 0}}};

// Epochs from which on the batch doubles; 0: no further one.
struct Doubling {
  std::string_view family;
  std::int32_t batch, gpus;
  std::array<std::int64_t, 4> from;
};
constexpr std::array<Doubling, 33> kDoublings{{{"ResNet-18", 16, 1, {31, 41, 51, 71}},
                                               {"ResNet-18", 32, 1, {21, 31, 51}},
                                               {"ResNet-18", 64, 1, {11, 31}},
                                               {"ResNet-18", 128, 1, {11}},
                                               {"ResNet-18", 16, 2, {21, 31, 91, 111}},
                                               {"ResNet-18", 32, 2, {11, 21, 41}},
                                               {"ResNet-18", 64, 2, {21, 41}},
                                               {"ResNet-18", 128, 2, {41}},
                                               {"ResNet-18", 16, 4, {11, 21, 81, 91}},
                                               {"ResNet-18", 32, 4, {21, 31, 61}},
                                               {"ResNet-18", 64, 4, {11, 61}},
                                               {"ResNet-18", 128, 4, {11}},
                                               {"ResNet-50", 64, 1, {101}},
                                               {"ResNet-50", 32, 2, {101, 111}},
                                               {"ResNet-50", 64, 2, {81}},
                                               {"ResNet-50", 32, 4, {131, 221}},
                                               {"ResNet-50", 64, 4, {191}},
                                               {"LM", 5, 1, {31, 41, 61, 71}},
                                               {"LM", 10, 1, {11, 21, 41}},
                                               {"LM", 20, 1, {11, 41}},
                                               {"LM", 40, 1, {11}},
                                               {"LM", 5, 2, {31, 51, 61, 71}},
                                               {"LM", 10, 2, {11, 31, 41}},
                                               {"LM", 20, 2, {31, 41}},
                                               {"LM", 40, 2, {11}},
                                               {"LM", 5, 4, {11, 31, 71, 91}},
                                               {"LM", 10, 4, {11, 31, 61}},
                                               {"LM", 20, 4, {11, 61}},
                                               {"LM", 40, 4, {61}},
                                               {"Recommendation", 512, 1, {21, 41, 71, 91}},
                                               {"Recommendation", 1'024, 1, {21, 51, 91}},
                                               {"Recommendation", 2'048, 1, {21, 41}},
                                               {"Recommendation", 4'096, 1, {41}}}};

const Family* find_family(std::string_view name) {
  const auto found = std::find_if(kFamilies.begin(), kFamilies.end(), [&](const Family& one) { return one.name == name; });
  return found == kFamilies.end() ? nullptr : &*found;
}

bool within(std::int64_t epoch, std::int64_t from, std::int64_t until) { return from <= epoch && epoch < until; }

// Where gradients change fast, the batch stays small.
bool critical(const BatchedModel& model, std::int64_t epoch) {
  if (model.family == "ResNet-18") {
    return epoch < (model.batch == 256 ? 20 : 10) || within(epoch, 150, 160) || within(epoch, 250, 260);
  }
  if (model.family == "ResNet-50") return epoch < 600 && epoch % 30 < 10;
  if (model.family == "LM") return epoch < 10;
  const std::int64_t first = model.batch <= 1'024 ? 30 : model.batch == 2'048 ? 40 : 10;
  return epoch < first || within(epoch, 60, 70) || within(epoch, 80, 90);
}

}  // namespace

std::int64_t BatchedModel::samples_per_epoch() const {
  const Family* const known = find_family(family);
  return known == nullptr ? 0 : known->samples;
}

std::int64_t BatchedModel::steps_per_epoch() const { return batch <= 0 ? 0 : (samples_per_epoch() + batch - 1) / batch; }

BatchedModel batched_model(std::string_view model) {
  const std::size_t at = model.find(kBatch);
  if (at == std::string_view::npos || model.back() != ')') return {model, 0};
  const std::string_view digits = model.substr(at + kBatch.size(), model.size() - at - kBatch.size() - 1);
  const auto batch = core::parse_whole(digits, INT32_MAX);
  return batch && *batch > 0 ? BatchedModel{model.substr(0, at), static_cast<std::int32_t>(*batch)} : BatchedModel{model, 0};
}

std::string with_batch(const BatchedModel& model, std::int32_t batch) { return fmt::format("{}{}{})", model.family, kBatch, batch); }

std::vector<BatchChange> shockwave_batches(std::string_view mode, const BatchedModel& model, std::int32_t gpus, std::int64_t epochs) {
  std::vector<BatchChange> changes;
  const Family* const family = find_family(model.family);
  if (family == nullptr || family->most_batch == 0) return changes;
  const auto change = [&](std::int64_t epoch, std::int32_t batch) {
    const std::int32_t before = changes.empty() ? model.batch : changes.back().batch;
    if (batch != before && epoch < epochs) changes.push_back({epoch, batch});
  };
  if (mode == "accordion") {
    // No epoch from 600 on is critical.
    for (std::int64_t epoch = 0; epoch < std::min<std::int64_t>(epochs, 601); ++epoch) {
      change(epoch, !critical(model, epoch) && 10 * epoch > 3 * epochs ? family->most_batch : model.batch);
    }
    change(std::max<std::int64_t>(601, 3 * epochs / 10 + 1), family->most_batch);
  } else if (mode == "gns") {
    for (const Doubling& one : kDoublings) {
      if (one.family != model.family || one.batch != model.batch || one.gpus != gpus) continue;
      std::int32_t batch = model.batch;
      for (const std::int64_t epoch : one.from) {
        if (epoch > 0) change(epoch, batch = std::min(2 * batch, family->most_batch));
      }
    }
  }
  return changes;
}

}  // namespace berth::io
