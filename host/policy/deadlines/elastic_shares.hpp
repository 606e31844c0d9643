#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "host/core/policy_api/shape_policy.hpp"
#include "host/policy/deadlines/capacity_line.hpp"

namespace berth::policy {

/// Shares of elasticflow: numbers of GPUs that are promised to jobs with deadlines, and what each gives its job now.
class ElasticShares {
 public:
  using ShareColumn = std::map<std::string, std::int64_t>;
  static constexpr std::int64_t kMostLays = 400'000;  // of promised jobs to try others, in a decision: a fraction of a second
  static constexpr std::size_t kMostParts = 1'024;    // of what is planned for a job; beyond, a promise may break

  /// @param promises  false: nothing is promised
  void choose(const core::ShapeQuestion& question, bool promises);
  void store(PolicyState& kept);
  /// When a promised job is to have more than before.
  TimeUs next_change() const { return next_change_; }

  /// By deadline; each has met it in `row_now`'s plan.
  std::span<const std::int32_t> promised() const { return promised_; }
  /// Waiting allowance of a job with that run time left: deadline - now - run time. kNever: without a deadline.
  TimeUs allowance(std::int32_t job, TimeUs left) const {
    const TimeUs deadline = of_[static_cast<std::size_t>(job)].deadline;
    return deadline == kNever ? kNever : deadline - now_ - std::min(left, kMaxTimeUs);
  }
  /// Row of the shape that a promised job has now; -1: none.
  std::int32_t row_now(std::int32_t job) const { return of_[static_cast<std::size_t>(job)].now; }

 private:
  struct Share {
    const std::string* id = nullptr;  // null: the job is not asked about
    const Deadline* steps = nullptr;
    TimeUs deadline = kNever;  // of the step that is promised or asked for
    TimeUs margin = 0;
    std::int32_t type = -1;
    std::int64_t gpus = 0;                                         // 0: nothing is promised
    std::int64_t least_work = 0;                                   // GPU-time, in the best of its shapes within the share
    std::size_t kept_begin = 0, kept_end = 0, begin = 0, end = 0;  // of kept_ and planned_
    std::int32_t now = -1;                                         // row of the shape that it has now; -1: none
    bool broken = false, asked = false, may = false;
  };
  struct Line {
    CapacityLine line;
    std::size_t full = 0;  // steps before this one leave no GPU
  };
  struct Taken {
    TimeUs from, to;
    std::int64_t gpus;
  };
  using PartNames = std::array<std::string, 3>;  // of the columns of a part: from, to, GPUs
  // Promised jobs of one type.
  struct Lane {
    std::vector<std::int32_t> jobs;  // by deadline
    std::vector<std::int64_t> room;  // [jobs + 1] least GPU-time that those from here on leave before a deadline
    std::size_t at = 0;              // those before it are laid
    std::int64_t work = 0;           // GPU-time of all that is laid
    std::int64_t added = 0;          // of it, that of jobs of this sweep
  };

  std::int64_t gpu_us(std::int32_t k) const;
  TimeUs run(std::int32_t k) const { return shapes_[static_cast<std::size_t>(k)].run; }
  std::int32_t first(std::int32_t job) const { return problem_.option_begin[job]; }
  std::int32_t last(std::int32_t job) const { return problem_.option_begin[job + 1]; }
  bool before(std::int32_t a, std::int32_t b) const;
  std::int32_t largest(std::int32_t job, std::int32_t type, std::int64_t within) const;
  std::int64_t least_work(std::int32_t job, std::int32_t type, std::int64_t within) const;

  void read(const core::ShapeQuestion& question, bool promises);
  void begin_lines();
  bool fits(std::int32_t job, Line& on, TimeUs slop = 0);
  void take(Line& on) const;
  void plan(std::int32_t job);
  const PartNames& part_names(std::size_t part);
  void find_parts(const PolicyState& kept);
  void read_kept(std::int32_t job);
  void keep_promises();
  void keep_planned();
  void admit(bool asked_before);
  bool try_levels(std::int32_t job);
  void begin_lanes();
  bool try_level(std::int32_t job, std::int32_t k);
  bool try_next_to_planned(std::int32_t job, std::int32_t k);

  kernel::PriceView problem_{};
  std::span<const kernel::ShapeTerms> shapes_;
  TimeUs now_ = 0;
  std::int64_t lays_left_ = 0;
  std::vector<Line> lines_;  // [types]
  Line spare_;
  std::vector<Lane> lanes_;                                  // [types]
  std::vector<Share> of_;                                    // [jobs]
  std::vector<std::int32_t> promised_;                       // by deadline
  std::vector<std::pair<TimeUs, std::int32_t>> candidates_;  // steps of deadlines that are asked for, and their jobs
  std::vector<std::int32_t> levels_;
  std::vector<PartNames> names_;
  std::vector<std::array<const ShareColumn*, 3>> parts_;
  std::vector<ShareColumn*> rows_;
  std::vector<Taken> kept_;     // what was planned before, from now on
  std::vector<Taken> planned_;  // what is planned
  bool again_ = true;           // all promised jobs meet their deadlines when all are laid again
  TimeUs next_change_ = kNever;
  std::vector<Taken> taken_;              // of the last `fits`
  std::vector<const std::string*> live_;  // ids of jobs with deadlines, sorted
};

}  // namespace berth::policy
