#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/plan.hpp"
#include "host/core/policy_api/quotas.hpp"
#include "host/core/quota/quota_ledger.hpp"
#include "host/core/quota/quota_order.hpp"

namespace berth::core {

/// What queues are entitled to, and how running jobs stand to it, counted again from a state and what a plan rejects. Shares of queues
/// are those of QueueShares; the rest is as docs/quotas.md says.
class QuotaRecount {
 public:
  /// O(jobs log jobs), and the shares.
  QuotaRecount(const StateImpl& state, const Plan& plan, Quotas quotas);
  /// All of them have taken what they hold.
  const QuotaLedger& with_running() const { return ledger_; }
  /// Whether the queue would be entitled to the job if it were the first of its waiting jobs.
  bool is_entitled(const StateImpl& state, std::int32_t job) const;
  /// Of a running job, where the policy does not displace jobs: those that may not be displaced count first, then the oldest. Where no
  /// queue has less then, those that the plan displaces count last.
  QuotaStanding standing(std::int32_t job) const { return static_cast<QuotaStanding>(standing_[static_cast<std::size_t>(job)]); }
  /// The same, whatever the plan displaces.
  QuotaStanding oldest_first(std::int32_t job) const { return static_cast<QuotaStanding>(oldest_first_[static_cast<std::size_t>(job)]); }

 private:
  void stand(const StateImpl& state, std::span<const std::int32_t> running, std::vector<std::uint8_t>& standing);

  Quotas quotas_;
  QuotaLedger ledger_;
  std::vector<std::uint8_t> standing_, oldest_first_;  // [jobs] QuotaStanding
};

}  // namespace berth::core
