#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "host/core/kept/waiting_classes.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/core/quota/quota_ledger.hpp"
#include "host/core/quota/quota_order.hpp"

namespace berth::core {

/// The waiting jobs that their queues are entitled to, as QuotaOrder finds them where the policy does not displace jobs. What queues
/// ask for and have is kept between decisions.
class EntitledJobs {
 public:
  /// Reads all jobs the next time.
  void forget() { known_ = false; }
  /// @param jobs         that changed since the last call; some may be named twice
  /// @param nodes        the same
  /// @param is_rejected  whether a job that waits is left out
  /// O(jobs that changed); after `forget` all jobs.
  void read(const StateImpl& state, const kernel::ProblemView& problem, Quotas quotas, std::span<const std::int32_t> jobs,
            std::span<const std::int32_t> nodes, const std::function<bool(std::int32_t)>& is_rejected);
  /// What queues are entitled to, and what they ask for and have. After `read`.
  const QuotaLedger& ledger(const StateImpl& state) {
    divide(state);
    return ledger_;
  }
  /// The jobs that are not borrowing. O(queues * types + classes + jobs found * log classes), and a division of shares where what is asked
  /// for changed.
  void find(const StateImpl& state, const kernel::ProblemView& problem, const WaitingClasses& waiting);
  /// Whether a waiting job is entitled where it is the first of its queue.
  bool is_entitled(const StateImpl& state, const kernel::ProblemView& problem, std::int32_t job);

  struct Raised {
    std::int32_t job;
    QuotaStanding standing;
  };
  /// Of the last `find`.
  std::span<const Raised> raised() const { return raised_; }

 private:
  /// The next job of a class.
  struct Next {
    OrderPlace place;
    std::size_t of, at;
  };
  void divide(const StateImpl& state);
  /// @param amount  gets what the job is charged with
  QuotaStanding stand(const kernel::ProblemView& problem, std::int32_t queue, std::int32_t job, QuotaAmount& amount) const;

  bool known_ = false, divided_ = false;
  Quotas quotas_ = Quotas::kLimits;
  QuotaLedger ledger_;
  std::vector<QuotaJob> counted_;       // [jobs of the state]
  std::vector<std::uint64_t> working_;  // [nodes] GPUs for which shares were divided
  std::vector<Raised> raised_;
  std::vector<std::uint8_t> has_room_;  // [queues] 0: no job of it is entitled
  std::vector<Next> heap_;
  std::vector<QuotaAmount> taken_;  // by jobs of `raised_`
};

}  // namespace berth::core
