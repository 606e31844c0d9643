#include "host/io/slurm/slurm_accounts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "host/core/check/check_snapshot.hpp"
#include "host/io/files/measured_number.hpp"
#include "host/io/json/json_text.hpp"

namespace berth::io {
namespace {

constexpr const char* kRootAccount = "root";
constexpr int kBelowAccounts = 2;  // levels of queues

/// Classes of QOS, from their Preempt lists.
class QosClasses {
 public:
  explicit QosClasses(const std::vector<SlurmQos>& qos) {
    for (const SlurmQos& one : qos) by_name_.emplace(one.name, &one);
  }

  /// The longest chain below; -1: the lists form a circle. Lists nest as deep as there are QOS, so there is no recursion.
  std::int32_t of(const std::string& name) {
    std::vector<std::pair<const SlurmQos*, std::size_t>> open;
    const auto enter = [&](const std::string& one) {
      const auto found = by_name_.find(one);
      if (found == by_name_.end()) {
        classes_[one] = 0;
      } else {
        classes_[one] = kOpen;
        open.emplace_back(found->second, 0);
      }
    };
    if (classes_.count(name) == 0) enter(name);
    while (!open.empty()) {
      auto& [qos, next] = open.back();
      if (next < qos->preempts.size()) {
        const std::string& below = qos->preempts[next++];
        const auto known = classes_.find(below);
        if (known == classes_.end()) {
          enter(below);
        } else if (known->second == kOpen) {
          circle_ = true;
        }
        continue;
      }
      std::int32_t own = 0;
      for (const std::string& below : qos->preempts) own = std::max(own, std::max(classes_.at(below), 0) + 1);
      classes_[qos->name] = own;
      open.pop_back();
    }
    return classes_.at(name);
  }
  bool circle() const { return circle_; }

 private:
  static constexpr std::int32_t kOpen = -1;
  std::map<std::string, const SlurmQos*> by_name_;
  std::map<std::string, std::int32_t> classes_;
  bool circle_ = false;
};

/// Leaves out of the Preempt lists what is no QOS. @returns the QOS that had such names
std::set<std::string> drop_unknown_qos(std::vector<SlurmQos>& qos, ImportNotes& notes) {
  std::set<std::string> names, had;
  for (const SlurmQos& one : qos) names.insert(one.name);
  for (SlurmQos& one : qos) {
    const auto unknown =
        std::stable_partition(one.preempts.begin(), one.preempts.end(), [&](const std::string& other) { return names.count(other) > 0; });
    if (unknown == one.preempts.end()) continue;
    notes.count("QOS record", " whose Preempt names a QOS that does not exist, which is left out", one.name + ": " + *unknown);
    had.insert(one.name);
    one.preempts.erase(unknown, one.preempts.end());
  }
  return had;
}

void note_qos(const SlurmQos& qos, ImportNotes& notes) {
  const auto note = [&](bool holds, const char* what) {
    if (holds) notes.count("QOS record", what, qos.name);
  };
  note(qos.limits_job, " with a limit of GPUs for each job, which is left out: Slurm holds such jobs itself");
  note(qos.least, " with MinTRES of GPUs, which is left out: Slurm holds such jobs itself");
  note(qos.limits_jobs, " with a limit of numbers of jobs, which is left out");
  note(qos.limits_minutes, " with a limit of GPU minutes, which is left out");
  note(!qos.usage_factor.empty() && parse_measured(qos.usage_factor, 6) != 1'000'000, " with a UsageFactor other than 1: left out");
  const auto mode = [&](const char* name) {
    std::string upper = qos.preempt_mode;
    std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
    return upper.find(name) != upper.npos;
  };
  note(mode("SUSPEND"), " whose jobs are suspended to displace them: a plan frees their GPUs");
  note(mode("CANCEL"), " whose jobs are cancelled to displace them: a plan lets them wait again");
  note(mode("GANG"), " with gang scheduling (time slices): left out");
}

void add_type(const std::string& type, Snapshot& snapshot, ImportNotes& notes) {
  std::vector<GpuType>& types = snapshot.gpu_types;
  const auto at = std::lower_bound(types.begin(), types.end(), type, [](const GpuType& one, const std::string& id) { return one.id < id; });
  if (at != types.end() && at->id == type) return;
  types.insert(at, GpuType())->id = type;
  notes.count("GPU type", " in limits that no node has", type);
}

class AccountTree {
 public:
  AccountTree(const SlurmAccounts& accounts, Snapshot& snapshot, ImportNotes& notes)
      : accounts_(accounts), snapshot_(snapshot), notes_(notes) {
    for (std::size_t i = 0; i < snapshot.queues.size(); ++i) queues_.emplace(snapshot.queues[i].id, i);
  }

  void add() {
    index();
    if (!accounts_.has_parents)
      notes_.say("associations without their parents: accounts form no tree; add ParentName to the format of sacctmgr show assoc");
    std::vector<std::string> with_jobs;
    for (const Queue& queue : snapshot_.queues) with_jobs.push_back(queue.id);
    for (const std::string& account : with_jobs) {
      if (by_account_.count(account) == 0) notes_.count("account", " without an association: a queue without limits", account);
      add_with_parents(account);
    }
    for (const auto& [account, one] : by_account_) {
      if (!one->limits.empty()) add_with_parents(account);
    }
    move_users();
  }

 private:
  void index() {
    for (const SlurmAssociation& one : accounts_.associations) {
      if (!one.user.empty()) {
        const bool whole = one.partition.empty();
        if (!one.limits.empty() && whole) users_.emplace(std::pair(one.account, one.user), &one);
        if (!one.limits.empty() && !whole)
          notes_.count("association", " of a partition with limits of GPUs, which are left out", one.account + "/" + one.user);
        if (one.shares != 1 && one.shares != kSharesOfParent)
          notes_.count("user", " with shares of an account, which are left out", one.account + "/" + one.user);
      } else if (!by_account_.emplace(one.account, &one).second) {
        fail_accounts(one.file, one.line, fmt::format("a second association of account '{}'", cut_utf8(one.account, 60)));
      }
      const std::string name = one.user.empty() ? one.account : one.account + "/" + one.user;
      if (one.limits_minutes) notes_.count("association", " with a limit of GPU minutes, which is left out", name);
      if (one.limits_jobs) notes_.count("association", " with a limit of numbers of jobs, which is left out", name);
      if (one.limits_job)
        notes_.count("association", " with a limit of GPUs for each job, which is left out: Slurm holds such jobs itself", name);
      if (one.longest_s > 0) notes_.count("association", " with MaxWall, which is left out: Slurm holds longer jobs itself", name);
    }
    for (const auto& [account, one] : by_account_) {
      if (!one->parent.empty() && by_account_.count(one->parent) == 0)
        notes_.count("account", " below one that has no association: it stands below none", account);
    }
    // Above each account: no circle, and not too deep. Below come queues of a user or account, and of a user in a QOS.
    for (const auto& [account, one] : by_account_) {
      const SlurmAssociation* at = one;
      int depth = 1 + kBelowAccounts;
      for (; depth <= core::kMostQueueDepth && at != nullptr; ++depth) {
        at = parent_of(*at);
        if (at == one) fail_accounts(one->file, one->line, fmt::format("account '{}' is its own ancestor", cut_utf8(account, 60)));
      }
      if (at != nullptr)
        fail_accounts(one->file, one->line,
                      fmt::format("more than {} accounts stand above one another", core::kMostQueueDepth - kBelowAccounts));
    }
  }

  const SlurmAssociation* parent_of(const SlurmAssociation& one) const {
    const auto found = by_account_.find(one.parent);
    return one.parent.empty() || found == by_account_.end() ? nullptr : found->second;
  }

  Queue& queue(const std::string& id) {
    const auto [at, fresh] = queues_.try_emplace(id, snapshot_.queues.size());
    if (fresh) snapshot_.queues.emplace_back().id = id;
    return snapshot_.queues[at->second];
  }

  void add_with_parents(const std::string& account) {
    if (!done_.insert(account).second) return;
    const auto found = by_account_.find(account);
    const SlurmAssociation* at = found == by_account_.end() ? nullptr : found->second;
    while (at != nullptr) {
      set(*at, at->account);
      const SlurmAssociation* const parent = parent_of(*at);
      // The root has all: it is a queue only where it has limits.
      if (parent == nullptr || (parent->account == kRootAccount && parent->limits.empty())) return;
      queue(parent->account);
      queue(at->account).parent = parent->account;
      if (!done_.insert(parent->account).second) return;
      at = parent;
    }
  }

  void set(const SlurmAssociation& from, const std::string& id) {
    Queue& out = queue(id);
    if (from.shares == kSharesOfParent) notes_.count("queue", " with Fairshare=parent: weight 1", id);
    if (from.shares == 0) notes_.count("queue", " of 0 shares: the smallest weight", id);
    constexpr std::int64_t kMicro = 1'000'000;
    out.weight_ppm = from.shares == kSharesOfParent ? kMicro : std::max<std::int64_t>(from.shares * kMicro, 1);
    out.quotas = slurm_quotas(from.limits, snapshot_, notes_);
  }

  // A user with limits gets a queue below the account's.
  void move_users() {
    if (users_.empty()) return;
    std::set<std::pair<std::string, std::string>> made;
    for (Job& job : snapshot_.jobs) {
      const auto found = users_.find({job.queue, job.user});
      if (found == users_.end()) continue;
      std::string id = job.queue + "/" + job.user;
      if (made.insert(found->first).second) {
        while (queues_.count(id) > 0) id += "'";
        ids_[found->first] = id;
        set(*found->second, id);
        queue(id).parent = job.queue;
      }
      job.queue = ids_.at(found->first);
    }
  }

  const SlurmAccounts& accounts_;
  Snapshot& snapshot_;
  ImportNotes& notes_;
  std::unordered_map<std::string, std::size_t> queues_;  // by id
  std::map<std::string, const SlurmAssociation*> by_account_;
  std::map<std::pair<std::string, std::string>, const SlurmAssociation*> users_;  // with limits
  std::map<std::pair<std::string, std::string>, std::string> ids_;                // of their queues
  std::set<std::string> done_;
};

}  // namespace

std::vector<Quota> slurm_quotas(const SlurmGpuLimits& limits, Snapshot& snapshot, ImportNotes& notes) {
  std::vector<Quota> quotas;
  for (const auto& [type, limit] : limits) {
    Quota& quota = quotas.emplace_back();
    quota.gpu_type = type.empty() ? "*" : type;
    quota.limit = std::min(limit, core::kMostQuotaGpus);
    if (!type.empty()) add_type(type, snapshot, notes);
  }
  return quotas;
}

std::map<std::string, SlurmQosRule> slurm_qos_rules(const SlurmAccounts& accounts, ImportNotes& notes) {
  std::map<std::string, SlurmQosRule> rules;
  std::vector<SlurmQos> qos = accounts.qos;
  const std::set<std::string> misnamed = drop_unknown_qos(qos, notes);
  QosClasses classes(qos);
  for (const SlurmQos& one : qos) {
    const auto [at, fresh] = rules.try_emplace(one.name);
    if (!fresh) fail_accounts(one.file, one.line, fmt::format("a second QOS '{}'", cut_utf8(one.name, 60)));
    note_qos(one, notes);
    SlurmQosRule& rule = at->second;
    rule.preemption_class = classes.of(one.name);
    rule.grace_us = one.grace_s * kSecond;
    rule.minimum_run_us = one.exempt_s * kSecond;
    rule.longest_s = one.longest_s;
  }
  if (classes.circle()) notes.say("QOS preempt each other in a circle: their order is that of the lists");
  // A class also displaces smaller classes that the list does not name.
  for (const SlurmQos& one : qos) {
    if (misnamed.count(one.name) > 0) continue;  // noted already: the missing one may be among these
    const std::set<std::string> listed(one.preempts.begin(), one.preempts.end());
    const bool more = !listed.empty() && std::any_of(rules.begin(), rules.end(), [&](const auto& other) {
      return other.second.preemption_class < rules.at(one.name).preemption_class && listed.count(other.first) == 0;
    });
    if (more) notes.count("QOS record", " that may preempt some smaller ones and not others: taken to preempt all of them", one.name);
  }
  return rules;
}

void add_slurm_accounts(const SlurmAccounts& accounts, Snapshot& snapshot, ImportNotes& notes) {
  if (accounts.has_associations) AccountTree(accounts, snapshot, notes).add();
}

}  // namespace berth::io
