#include "host/core/quota/dominant_shares.hpp"

#include <algorithm>
#include <bit>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

constexpr std::int64_t kBillionth = kWholeShare / 1'000'000'000;
constexpr SharedAmounts kAll{kWholeShare, kWholeShare, kWholeShare};
constexpr std::int64_t kMostWeight = 100'000'000'000;  // of a division; products of shares, parts and weights have 127 bits

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

// What a taker has of a resource, rounded up.
std::int64_t used(const DominantRequest& one, std::size_t resource) {
  return narrowed((Wide{one.gets} * one.part[resource] + kWholeFraction - 1) / kWholeFraction);
}

void add(SharedAmounts& to, const SharedAmounts& more) {
  for (std::size_t r = 0; r < kShared; ++r) to[r] = saturating_add(to[r], more[r]);
}

/// The level to which the shares of all takers have risen, by weight.
class RisingShares {
 public:
  RisingShares(const SharedAmounts& left, std::span<DominantRequest> takers) : takers_(takers) {
    for (std::size_t r = 0; r < kShared; ++r) left_[r] = Wide{left[r]} * kWholeFraction;
    std::int64_t most = kMostWeight;
    for (const DominantRequest& one : takers) most = std::max(most, one.weight);
    for (std::size_t i = 0; i < takers.size(); ++i) {
      const DominantRequest& one = takers[i];
      if (one.weight <= 0 || one.gets >= one.most) continue;
      const auto weight = std::max<std::int64_t>(1, static_cast<std::int64_t>(Wide{one.weight} * kMostWeight / most));
      rising_.push_back({Wide{one.most - one.gets} * kMostWeight / weight, weight, i, true});
      add_rates(rising_.back(), 1);
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
          stop(next);
        } else {
          rise_to(level);
          left_[resource] = 0;
          freeze_used_up();
        }
      }
    }
  }
  bool used_up(std::size_t resource) const { return left_[resource] == 0; }

 private:
  struct OneRising {
    Wide until;  // level at which it has all
    std::int64_t weight;
    std::size_t taker;
    bool rises;
  };
  struct UsedUp {
    std::size_t resource;
    Wide level;
  };
  void add_rates(const OneRising& one, int sign) {
    for (std::size_t r = 0; r < kShared; ++r) rate_[r] += sign * Wide{one.weight} * takers_[one.taker].part[r];
  }
  void stop(OneRising& one) {
    one.rises = false;
    add_rates(one, -1);
  }
  UsedUp first_used_up() const {
    UsedUp first{kShared, kNoLevel};
    for (std::size_t r = 0; r < kShared; ++r) {
      if (rate_[r] == 0) continue;
      if (const Wide level = level_ + left_[r] * kMostWeight / rate_[r]; level < first.level) first = {r, level};
    }
    return first;
  }
  void rise_to(Wide level) {
    for (std::size_t r = 0; r < kShared; ++r) left_[r] = std::max<Wide>(0, left_[r] - (level - level_) * rate_[r] / kMostWeight);
    level_ = level;
  }
  // Takers of a resource of which nothing is left stay at the level that all have reached.
  void freeze_used_up() {
    for (OneRising& one : rising_) {
      DominantRequest& taker = takers_[one.taker];
      bool ends = false;
      for (std::size_t r = 0; r < kShared; ++r) ends = ends || (left_[r] == 0 && taker.part[r] > 0);
      if (!one.rises || !ends) continue;
      taker.gets += static_cast<std::int64_t>(level_ * one.weight / kMostWeight);
      stop(one);
    }
  }

  static constexpr Wide kNoLevel = Wide{INT64_MAX} * INT64_MAX;
  std::span<DominantRequest> takers_;
  std::vector<OneRising> rising_;
  std::array<Wide, kShared> left_{}, rate_{};
  Wide level_ = 0;
};

// @param gpus  of the cluster, in millionths
void keep_gpus_whole(std::int64_t gpus, std::span<DominantRequest> takers) {
  struct Remainder {
    std::int64_t part;  // millionths of a GPU
    std::size_t taker;
  };
  std::vector<Remainder> remainders;
  std::int64_t left = 0;
  for (std::size_t i = 0; i < takers.size(); ++i) {
    const DominantRequest& one = takers[i];
    if (one.part[0] != kWholeFraction || one.gets >= one.most) continue;
    const auto has = static_cast<std::int64_t>((Wide{one.gets} * gpus + kWholeShare / 2) / kWholeShare);
    remainders.push_back({has % kWholeGpu, i});
    left += has % kWholeGpu;
  }
  const auto later = [](const Remainder& a, const Remainder& b) { return a.part != b.part ? a.part > b.part : a.taker < b.taker; };
  std::sort(remainders.begin(), remainders.end(), later);
  for (const Remainder& remainder : remainders) {
    if (remainder.part == 0 || left + std::ssize(takers) < kWholeGpu) break;  // parts are rounded
    DominantRequest& one = takers[remainder.taker];
    const Wide more = (Wide{kWholeGpu - remainder.part} * kWholeShare + gpus - 1) / gpus;
    one.gets = std::min(one.most, one.gets + static_cast<std::int64_t>(more));
    left -= kWholeGpu;
  }
}

}  // namespace

void divide_dominant(const SharedAmounts& amounts, std::int64_t gpus, std::span<DominantRequest> takers) {
  SharedAmounts left = amounts;
  for (DominantRequest& one : takers) {
    one.gets = std::clamp<std::int64_t>(one.first, 0, one.most);
    for (std::size_t r = 0; r < kShared; ++r) {
      if (one.part[r] > 0) one.gets = std::min(one.gets, narrowed(Wide{left[r]} * kWholeFraction / one.part[r]));
    }
    for (std::size_t r = 0; r < kShared; ++r) left[r] = std::max<std::int64_t>(0, left[r] - used(one, r));
  }
  RisingShares shares(left, takers);
  shares.run();
  if (gpus > 0 && shares.used_up(0)) keep_gpus_whole(gpus, takers);
}

std::int64_t DominantShares::of(const SharedAmounts& amounts) const {
  Wide share = 0;
  for (std::size_t r = 0; r < kShared; ++r) {
    if (cluster_[r] > 0) share = std::max(share, Wide{amounts[r]} * (kWholeShare / kBillionth) / cluster_[r]);
  }
  return narrowed(share);
}

// No queue asks for more than the cluster.
DominantRequest DominantShares::request(const SharedAmounts& asked) const {
  std::array<Wide, kShared> share{};
  Wide most = 0;
  for (std::size_t r = 0; r < kShared; ++r) {
    if (cluster_[r] > 0) share[r] = Wide{asked[r]} * kWholeShare / cluster_[r];
    most = std::max(most, share[r]);
  }
  DominantRequest one;
  if (most <= 0) return one;
  one.most = static_cast<std::int64_t>(std::min<Wide>(most, kWholeShare));
  // A share of the backlog of 10^18 units fits with the fraction.
  const Wide unit = std::max<Wide>(1, most / (Wide{kWholeShare} * kWholeShare / kWholeFraction));
  for (std::size_t r = 0; r < kShared; ++r) {
    const Wide of = share[r] / unit, all = most / unit;
    one.part[r] = static_cast<std::int64_t>((of * kWholeFraction + all - 1) / all);
  }
  return one;
}

// What the takers would have of the whole cluster, as one request.
DominantRequest DominantShares::join(std::span<const DominantRequest> takers) const {
  SharedAmounts sum{};
  for (const DominantRequest& one : takers) {
    for (std::size_t r = 0; r < kShared; ++r) sum[r] += used(one, r);
  }
  DominantRequest all;
  all.most = std::min(kWholeShare, *std::max_element(sum.begin(), sum.end()));
  const Wide most = std::max<Wide>(1, *std::max_element(sum.begin(), sum.end()));
  for (std::size_t r = 0; r < kShared; ++r) all.part[r] = static_cast<std::int64_t>((Wide{sum[r]} * kWholeFraction + most - 1) / most);
  return all;
}

void DominantShares::count_cluster(const StateImpl& s) {
  cluster_ = {};
  std::array<bool, kShared> known{true, true, true};
  for (std::size_t n = 0; n < s.nodes.size(); ++n) {
    const std::int64_t gpus = std::popcount(s.working_gpus(static_cast<std::int32_t>(n)));
    if (gpus == 0) continue;
    known[1] = known[1] && s.nodes[n].cpu_milli != kUnlimited;
    known[2] = known[2] && s.nodes[n].memory_bytes != kUnlimited;
    add(cluster_, {gpus * kWholeGpu, s.nodes[n].cpu_milli, s.nodes[n].memory_bytes});
  }
  for (std::size_t r = 0; r < kShared; ++r) cluster_[r] = known[r] ? cluster_[r] : 0;
}

void DominantShares::list_takers(const QueueShares& of_gpus, std::int32_t from) {
  takers_.clear();
  for (const std::int32_t child : of_gpus.children(from)) takers_.push_back(requests_[to_index(child)]);
  takers_.push_back(own_[to_index(from)]);
}

void DominantShares::sum_up(const StateImpl& s, const QueueShares& of_gpus, std::span<const SharedAmounts> asked) {
  const auto all = static_cast<std::int32_t>(s.gpu_types.size());
  own_.resize(asked.size());
  requests_.resize(asked.size());
  for (auto q = static_cast<std::int32_t>(asked.size()) - 1; q >= 0; --q) {
    own_[to_index(q)] = request(within(asked[to_index(q)], of_gpus.asked_by_own(s, q, all)));
    own_[to_index(q)].weight = s.queues[to_index(q)].weight_ppm;
    DominantRequest& one = requests_[to_index(q)];
    if (of_gpus.children(q).empty()) {
      one = own_[to_index(q)];
    } else {
      list_takers(of_gpus, q);
      divide_dominant(kAll, 0, takers_);
      one = join(takers_);
      one.weight = own_[to_index(q)].weight;
    }
    // Its limit, and its guarantees, are of GPUs: it gets as large a part of all that it asks for.
    const auto share_of = [&](std::int64_t gpus) {
      if (one.part[0] <= 0 || cluster_[0] <= 0) return std::int64_t{0};
      return narrowed(Wide{gpus} * kWholeShare / cluster_[0] * kWholeFraction / one.part[0]);
    };
    const std::int64_t limit = of_gpus.asked(q, all);
    if (Wide{used(one, 0)} * cluster_[0] / kWholeShare > Wide{limit} + kWholeGpu / 2) one.most = std::min(one.most, share_of(limit));
    std::int64_t of_types = 0;
    for (std::int32_t c = 0; c < all; ++c) of_types = saturating_add(of_types, of_gpus.guarantee(q, c));
    one.first = std::min(one.most, share_of(std::max(of_types, of_gpus.guarantee(q, all))));
  }
}

void DominantShares::hand_down(const QueueShares& of_gpus, std::int32_t from) {
  const DominantRequest& has = requests_[to_index(from)];
  const std::span<const std::int32_t> below = of_gpus.children(from);
  std::int64_t mine = has.gets;
  if (!below.empty()) {
    list_takers(of_gpus, from);
    // Parts are rounded up, so that the sum of the children's may be a little more than the queue's.
    SharedAmounts amounts;
    for (std::size_t r = 0; r < kShared; ++r) amounts[r] = used(has, r) + std::ssize(takers_) * (kWholeShare / kWholeFraction);
    divide_dominant(amounts, cluster_[0], takers_);
    for (std::size_t i = 0; i < below.size(); ++i) requests_[to_index(below[i])].gets = takers_[i].gets;
    mine = takers_.back().gets;
  }
  fair_[to_index(from)] = in_billionths(mine);
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
  divide_dominant(kAll, cluster_[0], takers_);
  for (std::size_t i = 0; i < roots_.size(); ++i) requests_[to_index(roots_[i])].gets = takers_[i].gets;
  for (std::int32_t q = 0; q < std::ssize(asked); ++q) hand_down(of_gpus, q);
}

}  // namespace berth::core
