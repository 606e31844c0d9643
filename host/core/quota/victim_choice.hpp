#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "berth/kernel/base/problem.hpp"
#include "berth/kernel/victims/columns.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {

/// Calls the operation `victims` on some backend (docs/victims.md). Refers to a callable, which must outlive it.
class FindVictims {
 public:
  FindVictims() = default;
  template <class Find>
  explicit FindVictims(const Find& find)
      : find_(&find),
        call_([](const void* of, const kernel::ProblemView& problem, const kernel::VictimsRequest& request,
                 const kernel::VictimsResult& result) { (*static_cast<const Find*>(of))(problem, request, result); }) {}
  explicit operator bool() const { return find_ != nullptr; }
  void operator()(const kernel::ProblemView& problem, const kernel::VictimsRequest& request, const kernel::VictimsResult& result) const {
    call_(find_, problem, request, result);
  }

 private:
  const void* find_ = nullptr;
  void (*call_)(const void*, const kernel::ProblemView&, const kernel::VictimsRequest&, const kernel::VictimsResult&) = nullptr;
};

/// Whether all options of a job are flat gangs of whole GPUs without segment and spread, on a cluster without nodes that end.
bool is_flat_gang(const kernel::ProblemView& problem, std::int32_t job);

/// A running job that may be displaced.
struct VictimCandidate {
  std::int32_t job = -1;
  std::int32_t rank = 0;  ///< jobs of a low rank leave before any of a higher one
  std::int64_t cost = 0;
};

/// Finds few and cheap victims for jobs that start one after another.
class VictimChoice {
 public:
  /// Puts first the candidates that make room for the first of these jobs, then those for the next, and so on.
  ///
  /// Only jobs are looked at that ask for whole GPUs in one flat group without segment and spread, that have room in their quotas, and on
  /// clusters without shares of GPUs and without nodes that end. Each is looked at as if the others took none of the free GPUs.
  /// @param jobs          in the order in which they start; the first `kMostJobs` that do not fit are looked at
  /// @param may_displace  [options of the problem] 1: the job may displace others in it; null: in all. The first that has room counts
  /// @param standing      [jobs of the state] QuotaStanding; a candidate leaves for jobs of an earlier one
  /// @param candidates    in the order in which they leave; rearranged
  void arrange(const StateImpl& state, const kernel::ProblemView& problem, const FindVictims& find, std::span<const std::int32_t> jobs,
               const std::uint8_t* may_displace, std::span<const std::uint8_t> standing, std::vector<VictimCandidate>& candidates);
  /// Of the last `arrange`: jobs for which all candidates together make no room.
  std::span<const std::int32_t> without_room() const { return without_room_; }
  /// Of the last `arrange`: whether this candidate makes room for a job.
  bool is_chosen(std::int32_t candidate) const { return is_chosen_[static_cast<std::size_t>(candidate)] != 0; }

 private:
  static constexpr int kMostJobs = 8;
  /// One choice for a job: the candidates of the best domain, as `chosen_`.
  kernel::VictimsOutcome choose(const kernel::ProblemView& problem, const FindVictims& find, const kernel::DemandRow& demand,
                                std::int32_t row);
  void add_question(std::int32_t row, std::int32_t topology, std::int32_t domain, std::int32_t begin, std::int32_t end);
  void price(std::int64_t most_victims);
  void list_candidates();
  void ask_nodes(const kernel::ProblemView& problem, std::int32_t row);

  std::vector<VictimCandidate> left_, open_, front_;  // not chosen; of these, those that leave for the job; chosen
  std::vector<std::uint8_t> is_chosen_;               // [jobs of the state]
  std::vector<std::int64_t> prices_;                  // of `open_`
  // Columns of the operation.
  std::vector<std::int32_t> demand_, topology_, domain_, begin_, end_, out_begin_, job_, rank_;
  std::vector<std::int64_t> cost_;
  std::vector<TimeUs> ends_;
  std::vector<std::int32_t> highest_, count_;
  std::vector<std::int64_t> sum_, members_;
  std::vector<kernel::VictimsOutcome> outcome_;
  std::vector<std::uint8_t> out_;
  std::vector<std::int32_t> chosen_, without_room_;
  std::vector<std::pair<std::int32_t, std::int32_t>> on_node_;  // node, index in `open_`
};

}  // namespace berth::core
