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
  std::int32_t batch = 0;                  ///< 0: the name does not say it
  std::int64_t samples_per_epoch() const;  ///< 0: its data set is not known
  std::int64_t steps_per_epoch() const;    ///< at this batch, the last one counted as whole; 0: its data set is not known
};
BatchedModel batched_model(std::string_view model);
std::string with_batch(const BatchedModel& model, std::int32_t batch);

/// How the batch of a job of so many epochs changes while it trains: what Shockwave's artefact lays down by mode ("accordion", "gns"),
/// model, first batch and GPU count (Zheng et al., NSDI '23; scheduler/utils.py). Empty where it stays.
///
/// - accordion: the largest batch of the model, once 30 % of the epochs are done, outside of critical regimes.
/// - gns: twice the batch from each of a list of epochs on, up to the largest.
///
/// Two things are left out. There the last epoch of a gns job goes back to the first batch where it was doubled more than once, as a loop
/// ends one too early; its simulator does not do so, either. And that simulator looks once a round, and lets accordion jobs have the large
/// batch before 30 % of their epochs are done.
std::vector<BatchChange> shockwave_batches(std::string_view mode, const BatchedModel& model, std::int32_t gpus, std::int64_t epochs);

}  // namespace berth::io
