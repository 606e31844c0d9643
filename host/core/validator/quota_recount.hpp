#pragma once

#include <cstdint>
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
  /// Of a running job, where the policy does not displace jobs: those that may not be displaced count first, then the oldest.
  QuotaStanding standing(std::int32_t job) const { return standing_[static_cast<std::size_t>(job)]; }

 private:
  QuotaLedger ledger_;
  std::vector<QuotaStanding> standing_;  // [jobs]
};

}  // namespace berth::core
