#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/trace.hpp"
#include "host/sim/base/job_source.hpp"
#include "host/sim/base/quantiles.hpp"
#include "host/sim/generate/llm_fabric.hpp"
#include "host/sim/generate/llm_models.hpp"

namespace berth::sim {

/// Jobs of a cluster for language models: small jobs, fine-tuning, pre-training, training of experts, and services that prefill and
/// decode apart. All but the small ones are trees of groups with traffic by kind (docs/llm-workload.md).
class LlmJobs {
 public:
  /// Kinds of jobs that fit the cluster: a replica or a service takes at most half of its nodes. O(models * sizes * groups).
  explicit LlmJobs(const LlmFabric& fabric);

  /// Sets all fields but the id and the submission.
  void draw(TraceJob& job, ItemDraws& draws) const;
  /// Expected GPU-time of a job, in microseconds of one GPU.
  std::int64_t mean_gpu_us() const;
  /// Those that the jobs name, by name.
  const TraceProfiles& profiles() const { return profiles_; }
  TraceFacts facts() const;

 private:
  struct Kind {
    std::int64_t weight;  // how often it is drawn, relative to the others
    std::string model, profile;
    std::vector<Shape> shapes;  // empty: a flat gang
    std::int32_t gpus;
    std::int32_t priority;
    std::int64_t units_micro_per_s;  // of work, without communication; 0: no work is stated
  };

  void add_small();
  void add_finetuning();
  void add_training(bool experts, std::int64_t mix_ppm);
  void add_services();
  std::string add_profile(std::string name, Profile profile);
  std::vector<Group> training_groups(const LlmModelSize& model, const LlmSplit& split, std::int32_t replicas) const;

  LlmFabric fabric_;
  std::vector<Kind> kinds_;
  std::int64_t weights_ = 0;
  TraceProfiles profiles_;
};

}  // namespace berth::sim
