#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/placement/rejections.hpp"
#include "host/core/policy_api/shape_rule.hpp"

namespace berth::core {

/// The options in which a queue policy tries jobs of several shapes (parameter `shape`). Memory is kept between decisions.
///
/// Other jobs are tried in all their options, in their own order.
class TriedOptions {
 public:
  /// After `rejections.reject` on the same problem.
  void build(const StateImpl& state, const kernel::ProblemView& problem, ShapeRule rule, Rejections& rejections);

  /// The job's own option that is tried first; 0 where it has none.
  std::int32_t first(std::int32_t job) const { return narrows_ && begin_[to_index(job)] < begin_[to_index(job) + 1] ? own_of(job, 0) : 0; }
  /// The problem with the options of the pass in place of the jobs' own.
  kernel::ProblemView view(kernel::ProblemView own) const;
  /// Run times of the options of the pass, from those of the jobs' own options. Valid as long as `into` and `own`.
  const TimeUs* run_times(const kernel::ProblemView& problem, const TimeUs* own, std::vector<TimeUs>& into) const;
  /// After the pass: options become the jobs' own.
  void translate(const kernel::PlaceRequest& request, const kernel::PlaceResult& result) const;
  /// [options of the problem] 1: not tried. Null: all are.
  const std::uint8_t* left_out() const { return narrows_ ? left_out_.data() : nullptr; }

 private:
  void requested(const StateImpl& s, const kernel::ProblemView& p, std::int32_t job, std::span<const std::uint8_t> impossible);
  void largest(const kernel::ProblemView& p, std::int32_t job);
  std::int32_t own_of(std::int32_t job, std::int32_t row) const { return own_[to_index(begin_[to_index(job)] + row)]; }

  bool narrows_ = false;                    // some job has several shapes
  std::vector<std::int32_t> begin_, own_;   // [jobs + 1]; the job's own option at each row of the pass
  std::vector<kernel::OptionRow> options_;  // [rows of the pass]
  std::vector<std::uint8_t> left_out_;      // [options of the problem]
  std::vector<std::int32_t> rows_;          // of one job
  std::vector<std::int32_t> first_shape_;   // [types] of one job, -1: none
};

}  // namespace berth::core
