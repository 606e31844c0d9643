#include "host/core/quota/queue_standing.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/quota/dominant_shares.hpp"
#include "host/core/quota/quota_ledger.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

constexpr std::int64_t kThousand = 1'000;  // billionths in a millionth

using QueueCells = std::vector<std::int64_t>;  // [queues * (types + 1)]

class Standings {
 public:
  Standings(const StateImpl& state, const Plan* plan, std::span<const std::uint8_t> rejected)
      : s_(state), p_(state.problem()), columns_(state.gpu_types.size() + 1), own_(cells(), 0), asked_(cells(), 0), waiting_(cells(), 0) {
    holds_.assign(s_.jobs.size(), 0);
    asked_amounts_.assign(s_.queues.size(), {});
    held_amounts_.assign(s_.queues.size(), {});
    rejected_.assign(rejected.begin(), rejected.end());
    rejected_.resize(s_.jobs.size(), 0);
    std::vector<std::uint8_t> decided(s_.jobs.size(), plan != nullptr && !plan->changes_only ? 1 : 0);
    for (std::size_t i = 0; plan != nullptr && i < plan->decisions.size(); ++i) {
      const Decision& d = plan->decisions[i];
      decided[to_index(d.job)] = 1;
      rejected_[to_index(d.job)] = d.action == Action::kReject ? 1 : 0;
      if (runs_now(d.action)) hold(d.job, std::span(plan->entries).subspan(to_index(d.entry_begin), to_index(d.entry_end - d.entry_begin)));
    }
    for (const std::int32_t job : s_.job_order) {
      if (s_.job.running[to_index(job)] != 0 && decided[to_index(job)] == 0) hold(job, s_.held_entries(job));
    }
    for (const std::int32_t job : s_.job_order) {
      if (rejected_[to_index(job)] != 0) continue;
      const QuotaAmount asked = quota_job(s_, p_, job).asked;
      add(asked_, job, asked);
      add_beside(asked_amounts_, job, asked);
      if (holds_[to_index(job)] == 0) add(waiting_, job, asked);
    }
    shares_.set(s_, asked_, true);
    for (std::size_t q = 0; q < s_.queues.size(); ++q) asked_amounts_[q][0] = asked_[q * columns_ + columns_ - 1];
    dominant_.set(s_, shares_, asked_amounts_);
  }

  std::vector<QueueStanding> rows() {
    const QueueCells has = with_children(own_), waiting = with_children(waiting_);
    QueueCells entitled(cells(), 0), fair(cells(), 0), guarantee(cells(), 0);
    for (std::size_t i = 0; i < cells(); ++i) {
      const auto queue = static_cast<std::int32_t>(i / columns_), column = static_cast<std::int32_t>(i % columns_);
      entitled[i] = to_index(column) + 1 == columns_ ? entitled_over_all(queue) : shares_.guaranteed(queue, column);
      fair[i] = shares_.fair(queue, column);
      guarantee[i] = shares_.guarantee(queue, column);
    }
    entitled = with_children(entitled);
    fair = with_children(fair);
    const std::vector<TimeUs> starved = starved_since();
    add_children(held_amounts_);
    std::vector<QueueStanding> rows;
    for (std::int32_t q = 0; q < std::ssize(s_.queues); ++q) {
      const auto add_row = [&](std::int32_t column) {
        const std::size_t i = to_index(q) * columns_ + to_index(column);
        const bool all = to_index(column) + 1 == columns_;
        const std::int64_t cap = s_.queue_cap[i];
        rows.push_back({q, all ? -1 : column, guarantee[i], cap == kernel::kNoLimit ? -1 : cap, entitled[i], fair[i], has[i], waiting[i],
                        starved[i], s_.queue_kept.empty() ? 0 : s_.queue_kept[i]});
      };
      add_row(static_cast<std::int32_t>(columns_) - 1);
      if (dominant_.counts_more_than_gpus()) {
        SharedAmounts held = held_amounts_[to_index(q)];
        held[0] = rows.back().has;
        rows.back().dominant_share = dominant_.of(held) / kThousand;
        rows.back().fair_dominant_share = dominant_.fair_with_children(q) / kThousand;
      }
      for (std::int32_t type = 0; to_index(type) + 1 < columns_; ++type) {
        const std::size_t i = to_index(q) * columns_ + to_index(type);
        if (guarantee[i] > 0 || s_.queue_cap[i] != kernel::kNoLimit) add_row(type);
      }
    }
    return rows;
  }

 private:
  std::size_t cells() const { return s_.queues.size() * columns_; }
  void hold(std::int32_t job, std::span<const PlanEntry> entries) {
    holds_[to_index(job)] = 1;
    const Constraints& each = s_.jobs[to_index(job)].job->constraints;
    for (const PlanEntry& entry : entries) {
      QuotaAmount held{std::int64_t{entry.share_ppm} * std::popcount(entry.gpus), s_.node.type[to_index(entry.node)]};
      held.cpu = saturating_mul(each.cpu_milli_per_gpu, std::popcount(entry.gpus));
      held.memory = saturating_mul(each.memory_bytes_per_gpu, std::popcount(entry.gpus));
      add(own_, job, held);
      add_beside(held_amounts_, job, held);
    }
  }
  void add(QueueCells& to, std::int32_t job, const QuotaAmount& amount) const {
    const std::int32_t queue = s_.job.queue[to_index(job)];
    if (queue < 0) return;
    for_each_column(amount, static_cast<std::int32_t>(columns_),
                    [&](std::int32_t column) { to[to_index(queue) * columns_ + to_index(column)] += amount.gpus; });
  }
  // Cores and memory.
  void add_beside(std::vector<SharedAmounts>& to, std::int32_t job, const QuotaAmount& amount) const {
    const std::int32_t queue = s_.job.queue[to_index(job)];
    if (queue < 0) return;
    SharedAmounts& sum = to[to_index(queue)];
    sum[1] = saturating_add(sum[1], amount.cpu);
    sum[2] = saturating_add(sum[2], amount.memory);
  }
  // What queues hold, with those below them.
  void add_children(std::vector<SharedAmounts>& held) const {
    for (std::size_t q = s_.queues.size(); q-- > 0;) {
      const std::int32_t parent = s_.queue_parent[q];
      for (std::size_t r = 1; parent >= 0 && r < kShared; ++r) {
        held[to_index(parent)][r] = saturating_add(held[to_index(parent)][r], held[q][r]);
      }
    }
  }
  // Parents are before their children.
  QueueCells with_children(QueueCells own) const {
    for (std::size_t q = s_.queues.size(); q-- > 0;) {
      const std::int32_t parent = s_.queue_parent[q];
      for (std::size_t c = 0; parent >= 0 && c < columns_; ++c) own[to_index(parent) * columns_ + c] += own[q * columns_ + c];
    }
    return own;
  }
  // A job that waits, and that its queue is entitled to, counts for all queues above it.
  std::vector<TimeUs> starved_since() const {
    std::vector<TimeUs> since(cells(), kNever);
    for (const std::int32_t job : s_.job_order) {
      const std::int32_t of = s_.job.queue[to_index(job)];
      if (of < 0 || holds_[to_index(job)] != 0 || rejected_[to_index(job)] != 0) continue;
      const TimeUs waits = s_.job.waiting_since[to_index(job)], since_then = waits == kNever ? s_.job.submit[to_index(job)] : waits;
      const TimeUs from = s_.job.running[to_index(job)] != 0 ? s_.now : since_then;  // it runs until the plan
      QuotaAmount seen;                                                              // in each type it is tried in the first shape
      for (std::int32_t o = p_.option_begin[job]; o < p_.option_end[job]; ++o) {
        const QuotaAmount asked = asked_in(p_, o);
        if (asked.type == seen.type || seen.may_be(asked.type)) continue;
        seen.join(asked);
        if (starves(of, asked, from, since)) break;
      }
    }
    return since;
  }

  // Where the queue is within with it, in each column in which something is stated.
  bool starves(std::int32_t of, const QuotaAmount& asked, TimeUs from, std::vector<TimeUs>& since) const {
    bool any = false, within = true;
    const auto visit = [&](const auto& act) {
      for_each_column(asked, static_cast<std::int32_t>(columns_), [&](std::int32_t column) {
        if (shares_.states(of, column)) act(column);
      });
    };
    visit([&](std::int32_t column) {
      any = true;
      within = within && own_[to_index(of) * columns_ + to_index(column)] + asked.gpus <= shares_.guaranteed(of, column);
    });
    if (!any || !within) return false;
    visit([&](std::int32_t column) {
      for (std::int32_t q = of; q >= 0; q = s_.queue_parent[to_index(q)]) {
        TimeUs& first = since[to_index(q) * columns_ + to_index(column)];
        first = std::min(first, from);
      }
    });
    return true;
  }
  // As QuotaLedger::entitled.
  std::int64_t entitled_over_all(std::int32_t queue) const {
    const auto all = static_cast<std::int32_t>(columns_) - 1;
    if (shares_.states(queue, all)) return shares_.guaranteed(queue, all);
    std::int64_t of_types = 0;
    for (std::int32_t c = 0; c < all; ++c) of_types = saturating_add(of_types, shares_.guaranteed(queue, c));
    return std::min(of_types, asked_[to_index(queue) * columns_ + to_index(all)]);
  }

  const StateImpl& s_;
  const kernel::ProblemView& p_;
  std::size_t columns_;
  QueueCells own_, asked_, waiting_;
  std::vector<std::uint8_t> holds_, rejected_;  // [jobs]
  QueueShares shares_;
  DominantShares dominant_;
  std::vector<SharedAmounts> asked_amounts_, held_amounts_;  // [queues]
};

}  // namespace

std::vector<QueueStanding> queue_standings(const StateView& state, const Plan* plan, std::span<const std::uint8_t> rejected) {
  return Standings(impl_of(state), plan, rejected).rows();
}

bool any_quota(const StateView& state) {
  const std::vector<Queue>& queues = state.queues();
  return std::any_of(queues.begin(), queues.end(), [](const Queue& queue) { return !queue.quotas.empty(); });
}

}  // namespace berth::core

namespace berth {

std::int32_t find_queue(const ClusterState& state, std::string_view id) {
  const auto& index = impl_of(StateView(state)).queue_index;
  const auto found = index.find(std::string(id));
  return found == index.end() ? -1 : found->second;
}

}  // namespace berth
