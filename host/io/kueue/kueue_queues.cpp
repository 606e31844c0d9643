#include "host/io/kueue/kueue_queues.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "host/core/check/check_snapshot.hpp"
#include "host/io/json/json_text.hpp"

namespace berth::io::kueue {
namespace {

constexpr std::int64_t kMilliPerGpu = 1000;

/// GPUs in thousandths: what is guaranteed, the most that may be used, and what of the guarantee may be lent.
struct FlavorAmount {
  std::int64_t nominal = 0;
  std::int64_t most = kUnlimited;
  std::int64_t lending = kUnlimited;

  std::int64_t lends() const { return lending == kUnlimited ? nominal : std::min(lending, nominal); }
};
using FlavorAmounts = std::map<std::string, FlavorAmount>;  // by flavor

struct CohortEntry {
  const CohortObject* object = nullptr;  // null: only named
  std::string parent;
  ObjectPlace at;
  int depth = 0;                                // 0: a root
  std::map<std::string, std::int64_t> nominal;  // by flavor: its own, and all below it
  std::size_t reclaiming = 0;                   // of a root: ClusterQueues below that reclaim
};

std::int64_t sum(std::int64_t a, std::int64_t b) { return a == kUnlimited || b == kUnlimited ? kUnlimited : a + b; }

class QueueTree {
 public:
  QueueTree(const KueueObjects& objects, const Flavors& flavors, Snapshot& snapshot, ImportNotes& notes)
      : objects_(objects), flavors_(flavors), snapshot_(snapshot), notes_(notes) {}

  QueueIndex make() {
    find_cohorts();
    find_depths();
    add_up();
    for (const auto& [name, cohort] : cohorts_) add_cohort(name, cohort);
    QueueIndex index;
    for (const ClusterQueueObject& queue : objects_.cluster_queues) {
      if (!queue.quotas.empty()) add_queue(queue, index);
    }
    return index;
  }

 private:
  void find_cohorts() {
    for (const CohortObject& one : objects_.cohorts) cohorts_[one.name] = {&one, one.parent, one.at, 0, {}, 0};
    for (const CohortObject& one : objects_.cohorts) name_cohort(one.parent, one.at);
    for (const ClusterQueueObject& one : objects_.cluster_queues) {
      if (one.quotas.empty()) {
        notes_.count("ClusterQueue", fmt::format(" left out: no quota of {}", kGpuResource), one.name);
      } else {
        name_cohort(one.cohort, one.at);
      }
    }
  }

  // A cohort that is only named has neither quotas nor limits of its own.
  void name_cohort(const std::string& name, const ObjectPlace& at) {
    if (!name.empty()) cohorts_.try_emplace(name, CohortEntry{nullptr, {}, at, 0, {}, 0});
  }

  // The cohort this many levels above, or null.
  const CohortEntry* above(const CohortEntry& cohort, int levels) const {
    const CohortEntry* at = &cohort;
    for (; levels > 0 && at != nullptr; --levels) at = at->parent.empty() ? nullptr : &cohorts_.at(at->parent);
    return at;
  }

  void find_depths() {
    const auto fail = [](const CohortEntry& cohort, const std::string& problem) { fail_topology(cohort.at.file, cohort.at.line, problem); };
    for (auto& [name, cohort] : cohorts_) {
      const CohortEntry* at = above(cohort, 1);
      for (; at != nullptr && at != &cohort && cohort.depth < core::kMostQueueDepth; at = above(*at, 1)) ++cohort.depth;
      if (at == &cohort) fail(cohort, fmt::format("cohort '{}' is its own ancestor", cut_utf8(name, 60)));
    }
    for (const auto& [name, cohort] : cohorts_) {
      // A ClusterQueue comes below.
      if (cohort.depth + 2 > core::kMostQueueDepth)
        fail(cohort, fmt::format("more than {} queues stand above one another", core::kMostQueueDepth));
    }
  }

  void add_up() {
    const auto add = [&](std::map<std::string, std::int64_t>& to, const std::vector<FlavorQuota>& quotas) {
      for (const FlavorQuota& one : quotas) to[one.flavor] += one.nominal_milli;
    };
    for (const ClusterQueueObject& one : objects_.cluster_queues) {
      if (!one.cohort.empty() && !one.quotas.empty()) add(cohorts_.at(one.cohort).nominal, one.quotas);
    }
    std::vector<CohortEntry*> deepest_first;
    for (auto& [name, cohort] : cohorts_) deepest_first.push_back(&cohort);
    std::stable_sort(deepest_first.begin(), deepest_first.end(),
                     [](const CohortEntry* a, const CohortEntry* b) { return a->depth > b->depth; });
    for (CohortEntry* cohort : deepest_first) {
      if (cohort->object != nullptr) add(cohort->nominal, cohort->object->quotas);
      if (cohort->parent.empty()) continue;
      std::map<std::string, std::int64_t>& above = cohorts_.at(cohort->parent).nominal;
      for (const auto& [flavor, nominal] : cohort->nominal) above[flavor] += nominal;
    }
    for (const ClusterQueueObject& one : objects_.cluster_queues) {
      if (!one.cohort.empty() && !one.quotas.empty() && one.reclaim != ReclaimPolicy::kNever) ++root_of(one.cohort).reclaiming;
    }
  }

  CohortEntry& root_of(const std::string& name) {
    CohortEntry* at = &cohorts_.at(name);
    while (!at->parent.empty()) at = &cohorts_.at(at->parent);
    return *at;
  }

  // Cohorts and ClusterQueues are different kinds, and may have the same name.
  std::string cohort_id(const std::string& name) const {
    const auto taken = [&](const std::string& id) {
      const auto at = std::lower_bound(objects_.cluster_queues.begin(), objects_.cluster_queues.end(), id,
                                       [](const ClusterQueueObject& one, const std::string& k) { return one.name < k; });
      return at != objects_.cluster_queues.end() && at->name == id;
    };
    return taken(name) ? name + " (cohort)" : name;
  }

  std::int64_t whole(std::int64_t milli, const std::string& queue) {
    if (milli % kMilliPerGpu != 0 && rounded_.insert(queue).second)
      notes_.count("queue", " with a part of a GPU in a quota: rounded down", queue);
    return milli / kMilliPerGpu;
  }

  Quota quota(const std::string& type, const FlavorAmount& amount, bool may_borrow, const std::string& queue) {
    Quota out;
    out.gpu_type = type;
    out.guarantee = whole(amount.nominal, queue);
    const std::int64_t lending = whole(amount.lends(), queue);
    if (may_borrow && lending < out.guarantee) out.lending = lending;
    if (amount.most == kUnlimited) return out;
    const std::int64_t most = whole(amount.most, queue);
    (may_borrow ? out.borrowing : out.limit) = may_borrow ? most - out.guarantee : most;
    return out;
  }

  // A flavor of one GPU type is a quota of that type; where one has several types, there is also one of all types.
  void set_quotas(const FlavorAmounts& amounts, bool may_borrow, Queue& queue) {
    std::map<std::string, FlavorAmount> by_type;
    FlavorAmount all{0, 0, 0};
    bool typed = true;
    std::size_t known = 0;
    for (const auto& [name, amount] : amounts) {
      const FlavorObject* const flavor = flavors_.find(name);
      if (flavor == nullptr) continue;
      ++known;
      const std::vector<std::string>& types = flavors_.types(*flavor);
      typed = typed && types.size() == 1;
      all = {all.nominal + amount.nominal, sum(all.most, amount.most), all.lending + amount.lends()};
      for (const std::string& type : types) {
        const auto [at, fresh] = by_type.try_emplace(type, FlavorAmount{0, 0, 0});
        // What is kept of a flavor may be of any of its types.
        const std::int64_t lends = types.size() == 1 ? amount.lends() : amount.nominal;
        at->second = {at->second.nominal + amount.nominal, sum(at->second.most, amount.most), at->second.lending + lends};
      }
    }
    if (known == 0) {
      queue.quotas.push_back(quota("*", {0, 0, 0}, false, queue.id));
      return;
    }
    if (!typed) queue.quotas.push_back(quota("*", all, may_borrow, queue.id));
    if (!typed && known == 1) return;
    for (const auto& [type, amount] : by_type) queue.quotas.push_back(quota(type, amount, may_borrow, queue.id));
  }

  // Kueue accepts neither.
  void note_lending(const Queue& queue, const std::vector<FlavorQuota>& quotas) {
    const auto lends = [](const FlavorQuota& one) { return one.lending_milli != kUnlimited; };
    const auto lends_more = [&](const FlavorQuota& one) { return lends(one) && one.lending_milli > one.nominal_milli; };
    if (queue.parent.empty() && std::any_of(quotas.begin(), quotas.end(), lends)) {
      notes_.count("queue", " with a lendingLimit, and no others to lend to: left out", queue.id);
    } else if (std::any_of(quotas.begin(), quotas.end(), lends_more)) {
      notes_.count("queue", " with a lendingLimit above its nominalQuota", queue.id);
    }
  }

  void set_weight(std::int64_t weight_micro, Queue& queue) {
    queue.weight_ppm = std::max<std::int64_t>(weight_micro, 1);
    if (weight_micro == 0) notes_.count("queue", " of weight 0: the smallest weight", queue.id);
  }

  void add_cohort(const std::string& name, const CohortEntry& cohort) {
    Queue& queue = snapshot_.queues.emplace_back();
    queue.id = cohort_id(name);
    if (!cohort.parent.empty()) queue.parent = cohort_id(cohort.parent);
    FlavorAmounts amounts;
    for (const auto& [flavor, nominal] : cohort.nominal) amounts[flavor] = {nominal, cohort.parent.empty() ? nominal : kUnlimited, nominal};
    if (cohort.object != nullptr) {
      set_weight(cohort.object->weight_micro, queue);
      note_lending(queue, cohort.object->quotas);
      for (const FlavorQuota& one : cohort.object->quotas) {
        FlavorAmount& amount = amounts.at(one.flavor);
        if (!cohort.parent.empty()) amount.most = sum(amount.nominal, one.borrowing_milli);
        amount.lending = one.lending_milli;
      }
    }
    if (!amounts.empty()) set_quotas(amounts, !cohort.parent.empty(), queue);
  }

  void add_queue(const ClusterQueueObject& from, QueueIndex& index) {
    Queue& queue = snapshot_.queues.emplace_back();
    queue.id = from.name;
    const bool borrows = !from.cohort.empty();
    if (borrows) queue.parent = cohort_id(from.cohort);
    FlavorAmounts amounts;
    for (const FlavorQuota& one : from.quotas)
      amounts[one.flavor] = {one.nominal_milli, borrows ? sum(one.nominal_milli, one.borrowing_milli) : one.nominal_milli,
                             one.lending_milli};
    set_quotas(amounts, borrows, queue);
    note_lending(queue, from.quotas);
    set_weight(from.weight_micro, queue);
    const std::size_t reclaiming = borrows ? root_of(from.cohort).reclaiming : 0;
    const std::size_t others = reclaiming - (borrows && from.reclaim != ReclaimPolicy::kNever ? 1 : 0);
    index.entries[from.name] = {&from, others > 0 || from.within != WithinPolicy::kNever};
    note_policies(from, reclaiming);
  }

  void note_policies(const ClusterQueueObject& from, std::size_t reclaiming) {
    const auto note = [&](bool holds, const char* what) {
      if (holds) notes_.count("ClusterQueue", what, from.name);
    };
    note(reclaiming > 0 && from.reclaim == ReclaimPolicy::kNever, " that does not reclaim, unlike others of its cohort: taken to reclaim");
    note(from.reclaim == ReclaimPolicy::kLowerPriority, " that reclaims from lower priorities: taken to reclaim from any");
    note(from.borrow_and_preempt, " that may preempt to borrow (borrowWithinCohort): left out");
    note(from.within != WithinPolicy::kNever, " that may preempt in itself: only policies that displace jobs do, such as priority");
    note(from.next_flavor_before_borrowing, " that tries the next flavor before it borrows: left out");
    note(from.strict, " with StrictFIFO: only discipline=strict does so, for all queues");
    note(from.admission_checks, " with admission checks: left out");
    note(from.namespaces_by_label, " with a namespaceSelector: taken to accept every namespace");
  }

  const KueueObjects& objects_;
  const Flavors& flavors_;
  Snapshot& snapshot_;
  ImportNotes& notes_;
  std::map<std::string, CohortEntry> cohorts_;
  std::set<std::string> rounded_;  // ids of queues
};

}  // namespace

QueueIndex add_queues(const KueueObjects& objects, const Flavors& flavors, Snapshot& snapshot, ImportNotes& notes) {
  return QueueTree(objects, flavors, snapshot, notes).make();
}

}  // namespace berth::io::kueue
