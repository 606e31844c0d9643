#pragma once

#include <algorithm>
#include <memory>

#include "host/core/policy_api/policy.hpp"

namespace berth::policy {

/// What makes a policy without parameters of its own.
template <class Policy>
std::unique_ptr<core::QueuePolicy> make_queue_policy(const core::Params&) {
  return std::make_unique<Policy>();
}

/// A policy whose keys change only at events. `KeyOf` has `std::int64_t operator()(const core::JobColumns&, std::int32_t job)`, and does
/// not read `attained_gpu_us`.
template <class KeyOf>
class FixedKey final : public core::QueuePolicy {
 public:
  explicit FixedKey(KeyOf key_of = {}) : key_of_(key_of) {}

  void keys(const core::JobColumns& jobs, TimeUs, std::span<const std::int32_t> job_indices, std::span<std::int64_t> out) override {
    for (std::size_t i = 0; i < job_indices.size(); ++i) out[i] = key_of_(jobs, job_indices[i]);
  }
  void next_change(const core::JobColumns&, TimeUs, std::span<const std::int32_t> jobs, std::span<TimeUs> out) override {
    std::fill_n(out.begin(), jobs.size(), kNever);
  }
  bool rests_while_waiting() const override { return true; }
  bool rises_only_at_changes() const override { return true; }
  bool reads_attained() const override { return false; }

 private:
  KeyOf key_of_;
};

/// A policy whose keys fall with the remaining time while a job runs, and rest while it waits. `KeyOf` is as above. It also has
/// `std::int64_t most_fall(const core::JobColumns&, std::int32_t job) const`, for QueuePolicy::most_fall.
template <class KeyOf>
class RunningKey final : public core::QueuePolicy {
 public:
  void keys(const core::JobColumns& jobs, TimeUs, std::span<const std::int32_t> job_indices, std::span<std::int64_t> out) override {
    for (std::size_t i = 0; i < job_indices.size(); ++i) out[i] = KeyOf{}(jobs, job_indices[i]);
  }
  void next_change(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices, std::span<TimeUs> out) override {
    for (std::size_t i = 0; i < job_indices.size(); ++i) {
      const std::int32_t job = job_indices[i];
      out[i] = jobs.running[job] != 0 && jobs.remaining[job] != kNever ? now : kNever;
    }
  }
  bool rests_while_waiting() const override { return true; }
  bool rises_only_at_changes() const override { return true; }
  bool reads_attained() const override { return false; }
  std::int64_t most_fall(const core::JobColumns& jobs, std::int32_t job) const override { return KeyOf{}.most_fall(jobs, job); }
};

}  // namespace berth::policy
