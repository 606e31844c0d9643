#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace berth::core {

/// What the quotas of queues do beyond their limits: the parameter `quotas` (docs/quotas.md).
enum class Quotas : std::uint8_t {
  kLimits,      ///< nothing
  kGuarantees,  ///< a queue gets its guarantee back from those that have more than theirs
  kFair,        ///< and its fair share of GPUs from those that have more than theirs
  kDominant,    ///< as kFair, and shares are dominant shares of GPUs, cores and memory
};

/// The parameter's values: Berth's own names, then those of systems whose rule a value is (docs/quota-rules.md).
struct NamedQuotas {
  std::string_view name;
  Quotas quotas;
};
inline constexpr std::array kQuotas{
    NamedQuotas{"limits", Quotas::kLimits},   NamedQuotas{"guarantees", Quotas::kGuarantees},
    NamedQuotas{"fair", Quotas::kFair},       NamedQuotas{"drf", Quotas::kDominant},
    NamedQuotas{"kai", Quotas::kFair},        NamedQuotas{"kueue", Quotas::kGuarantees},
    NamedQuotas{"kueue-fair", Quotas::kFair}, NamedQuotas{"slurm", Quotas::kLimits},
};

/// Whether jobs may also take GPUs back for the fair share of their queue.
constexpr bool has_fair_shares(Quotas quotas) { return quotas != Quotas::kLimits && quotas != Quotas::kGuarantees; }

}  // namespace berth::core
