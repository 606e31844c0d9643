#include "host/core/quota/dominant_shares.hpp"

#include <algorithm>
#include <bit>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

constexpr std::int64_t kLevelUnit = 1'000'000'000;        // parts of kWholeShare for a weight of one millionth
constexpr std::int64_t kMostShare = kWholeShare * 1'000;  // more than the cluster is as good as any
constexpr std::int64_t kBillionth = kWholeShare / 1'000'000'000;

std::int64_t narrowed(Wide value) { return static_cast<std::int64_t>(std::min<Wide>(value, INT64_MAX)); }

// Of amounts that the jobs of a queue ask for, what a limit of their GPUs leaves.
SharedAmounts within(const SharedAmounts& asked, std::int64_t gpus) {
  if (gpus >= asked[0]) return asked;
  SharedAmounts less;
  for (std::size_t r = 0; r < kShared; ++r) less[r] = narrowed(Wide{asked[r]} * gpus / asked[0]);
  return less;
}

// Rounded up: a job that fits exactly is within.
std::int64_t in_billionths(std::int64_t share) { return (share + kBillionth - 1) / kBillionth; }

void add(SharedAmounts& to, const SharedAmounts& more) {
  for (std::size_t r = 0; r < kShared; ++r) to[r] = saturating_add(to[r], more[r]);
}

/// The level to which the shares of all takers have risen, by weight.
class RisingShares {
 public:
  RisingShares(const SharedAmounts& left, std::span<DominantRequest> takers) : takers_(takers) {
    for (std::size_t r = 0; r < kShared; ++r) left_[r] = Wide{left[r]} * kWholeFraction;
    for (std::size_t i = 0; i < takers.size(); ++i) {
      if (takers[i].weight <= 0 || takers[i].gets >= takers[i].most) continue;
      rising_.push_back({Wide{takers[i].most - takers[i].gets} * kLevelUnit / takers[i].weight, i, true});
      add_rates(takers[i], 1);
    }
    std::sort(rising_.begin(), rising_.end(), [](const OneRising& a, const OneRising& b) { return a.until < b.until; });
  }

  void run() {
    freeze_used_up();
    for (OneRising& next : rising_) {
      while (next.rises) {
        const auto [resource, level] = first_used_up();
        if (next.until <= level) {
          rise_to(next.until);
          takers_[next.taker].gets = takers_[next.taker].most;
          next.rises = false;
          add_rates(takers_[next.taker], -1);
        } else {
          rise_to(level);
          left_[resource] = 0;
          freeze_used_up();
        }
      }
    }
  }

 private:
  struct OneRising {
    Wide until;  // level at which it has all
    std::size_t taker;
    bool rises;
  };
  struct UsedUp {
    std::size_t resource;
    Wide level;
  };
  void add_rates(const DominantRequest& one, int sign) {
    for (std::size_t r = 0; r < kShared; ++r) rate_[r] += sign * Wide{one.weight} * one.part[r];
  }
  UsedUp first_used_up() const {
    UsedUp first{kShared, kNoLevel};
    for (std::size_t r = 0; r < kShared; ++r) {
      if (rate_[r] == 0) continue;
      if (const Wide level = level_ + left_[r] * kLevelUnit / rate_[r]; level < first.level) first = {r, level};
    }
    return first;
  }
  void rise_to(Wide level) {
    for (std::size_t r = 0; r < kShared; ++r) left_[r] = std::max<Wide>(0, left_[r] - (level - level_) * rate_[r] / kLevelUnit);
    level_ = level;
  }
  // Takers of a resource of which nothing is left stay at the level that all have reached.
  void freeze_used_up() {
    for (OneRising& one : rising_) {
      DominantRequest& taker = takers_[one.taker];
      bool ends = false;
      for (std::size_t r = 0; r < kShared; ++r) ends = ends || (left_[r] == 0 && taker.part[r] > 0);
      if (!one.rises || !ends) continue;
      taker.gets += static_cast<std::int64_t>(level_ * taker.weight / kLevelUnit);
      one.rises = false;
      add_rates(taker, -1);
    }
  }

  static constexpr Wide kNoLevel = Wide{INT64_MAX} * INT64_MAX;
  std::span<DominantRequest> takers_;
  std::vector<OneRising> rising_;
  std::array<Wide, kShared> left_{}, rate_{};
  Wide level_ = 0;
};

}  // namespace

void divide_dominant(const SharedAmounts& amounts, std::span<DominantRequest> takers) {
  SharedAmounts left = amounts;
  for (DominantRequest& one : takers) {
    one.gets = std::clamp<std::int64_t>(one.first, 0, one.most);
    for (std::size_t r = 0; r < kShared; ++r) {
      if (one.part[r] > 0) one.gets = std::min(one.gets, narrowed(Wide{left[r]} * kWholeFraction / one.part[r]));
    }
    for (std::size_t r = 0; r < kShared; ++r) left[r] -= static_cast<std::int64_t>(Wide{one.gets} * one.part[r] / kWholeFraction);
  }
  RisingShares(left, takers).run();
}

std::int64_t DominantShares::of(const SharedAmounts& amounts) const {
  Wide share = 0;
  for (std::size_t r = 0; r < kShared; ++r) {
    if (cluster_[r] > 0) share = std::max(share, Wide{amounts[r]} * (kWholeShare / kBillionth) / cluster_[r]);
  }
  return narrowed(share);
}

DominantRequest DominantShares::request(const SharedAmounts& asked) const {
  std::array<Wide, kShared> share{};
  Wide most = 0;
  for (std::size_t r = 0; r < kShared; ++r) {
    if (cluster_[r] > 0) share[r] = Wide{asked[r]} * kWholeShare / cluster_[r];
    most = std::max(most, share[r]);
  }
  DominantRequest one;
  if (most <= 0) return one;
  one.most = static_cast<std::int64_t>(std::min<Wide>(most, kMostShare));
  // A product of 10^15 and 10^12 fits, also where far more is asked for than there is.
  const Wide unit = std::max<Wide>(1, most / kMostShare);
  for (std::size_t r = 0; r < kShared; ++r) one.part[r] = static_cast<std::int64_t>(share[r] / unit * kWholeFraction / (most / unit));
  return one;
}

SharedAmounts DominantShares::got(const DominantRequest& one) const {
  SharedAmounts amounts;
  for (std::size_t r = 0; r < kShared; ++r) amounts[r] = narrowed(Wide{one.gets} * one.part[r] / kWholeFraction);
  return amounts;
}

void DominantShares::count_cluster(const StateImpl& s) {
  cluster_ = {};
  std::array<bool, kShared> known{true, true, true};
  for (std::size_t n = 0; n < s.nodes.size(); ++n) {
    const std::int64_t gpus = std::popcount(s.node.usable[n]);
    if (gpus == 0) continue;
    known[1] = known[1] && s.nodes[n].cpu_milli != kUnlimited;
    known[2] = known[2] && s.nodes[n].memory_bytes != kUnlimited;
    add(cluster_, {gpus * kWholeGpu, s.nodes[n].cpu_milli, s.nodes[n].memory_bytes});
  }
  for (std::size_t r = 0; r < kShared; ++r) cluster_[r] = known[r] ? cluster_[r] : 0;
}

void DominantShares::sum_up(const StateImpl& s, const QueueShares& of_gpus, std::span<const SharedAmounts> asked) {
  const auto all = static_cast<std::int32_t>(s.gpu_types.size());
  own_.assign(asked.begin(), asked.end());
  asked_.assign(asked.size(), {});
  requests_.resize(asked.size());
  for (auto q = static_cast<std::int32_t>(asked.size()) - 1; q >= 0; --q) {
    SharedAmounts& sum = asked_[to_index(q)];
    own_[to_index(q)] = within(own_[to_index(q)], of_gpus.asked_by_own(s, q, all));
    add(sum, own_[to_index(q)]);
    const std::int64_t gpus = of_gpus.asked(q, all);
    sum = within(sum, gpus);
    DominantRequest& one = requests_[to_index(q)] = request(sum);
    one.weight = s.queues[to_index(q)].weight_ppm;
    // Guarantees are of GPUs: the queue gets as large a part of all that it asks for.
    std::int64_t of_types = 0;
    for (std::int32_t c = 0; c < all; ++c) of_types = saturating_add(of_types, of_gpus.guarantee(q, c));
    const std::int64_t first = std::min(gpus, std::max(of_types, of_gpus.guarantee(q, all)));
    if (gpus > 0) one.first = static_cast<std::int64_t>(Wide{one.most} * first / gpus);
    if (const std::int32_t parent = s.queue_parent[to_index(q)]; parent >= 0) add(asked_[to_index(parent)], sum);
  }
}

void DominantShares::hand_down(const QueueShares& of_gpus, std::int32_t from) {
  const std::span<const std::int32_t> below = of_gpus.children(from);
  const DominantRequest& has = requests_[to_index(from)];
  DominantRequest mine = request(own_[to_index(from)]);
  if (below.empty()) {
    mine.gets = has.gets;
  } else {
    takers_.clear();
    for (const std::int32_t child : below) takers_.push_back(requests_[to_index(child)]);
    mine.weight = has.weight;
    takers_.push_back(mine);
    divide_dominant(got(has), takers_);
    for (std::size_t i = 0; i < below.size(); ++i) requests_[to_index(below[i])].gets = takers_[i].gets;
    mine.gets = takers_.back().gets;
  }
  fair_[to_index(from)] = in_billionths(mine.gets);
}

std::int64_t DominantShares::fair_with_children(std::int32_t queue) const { return in_billionths(requests_[to_index(queue)].gets); }

void DominantShares::set(const StateImpl& s, const QueueShares& of_gpus, std::span<const SharedAmounts> asked) {
  count_cluster(s);
  sum_up(s, of_gpus, asked);
  fair_.assign(asked.size(), 0);
  roots_.clear();
  takers_.clear();
  for (std::int32_t q = 0; q < std::ssize(asked); ++q) {
    if (s.queue_parent[to_index(q)] >= 0) continue;
    roots_.push_back(q);
    takers_.push_back(requests_[to_index(q)]);
  }
  divide_dominant({kWholeShare, kWholeShare, kWholeShare}, takers_);
  for (std::size_t i = 0; i < roots_.size(); ++i) requests_[to_index(roots_[i])].gets = takers_[i].gets;
  for (std::int32_t q = 0; q < std::ssize(asked); ++q) hand_down(of_gpus, q);
}

}  // namespace berth::core
