#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::io {

/// From an epoch on, counted from 0, a job trains with this batch.
struct BatchChange {
  std::int64_t epoch = 0;
  std::int32_t batch = 0;
  bool operator==(const BatchChange&) const = default;
};

/// A model of Gavel or Shockwave, "FAMILY (batch size N)".
struct BatchedModel {
  std::string_view family;
  std::int32_t batch = 0;                  ///< 0: not in the name
  std::int64_t samples_per_epoch() const;  ///< 0: its data set is not known
  std::int64_t steps_per_epoch() const;    ///< at this batch, counting a partial last one; 0: its data set is not known
};
BatchedModel batched_model(std::string_view model);
std::string with_batch(const BatchedModel& model, std::int32_t batch);

/// Changes of a job's batch during training, as in Shockwave's artifact (Zheng et al., NSDI '23; scheduler/utils.py).
/// They depend on mode ("accordion", "gns"), model, first batch and GPU count. Empty where the batch is constant.
///
/// - accordion: the largest batch of the model, after 30 % of the epochs, outside of critical regimes.
/// - gns: twice the batch from each of a list of epochs on, up to the largest.
///
/// Two details of the artifact are omitted. The last epoch of a gns job returns to the first batch where it was doubled more than once,
/// because a loop ends too early; its simulator does not do so either.
/// That simulator checks once per round, and gives accordion jobs the large batch before 30 % of their epochs.
std::vector<BatchChange> shockwave_batches(std::string_view mode, const BatchedModel& model, std::int32_t gpus, std::int64_t epochs);

}  // namespace berth::io
