// Queues of QOS with limits of GPUs: docs/slurm.md, "Limits of QOS".

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "host/io/slurm/slurm_accounts.hpp"

namespace berth::io {
namespace {

/// Below the queue of an account, or for a QOS over all accounts where it has a limit of its own.
class QosQueues {
 public:
  QosQueues(const SlurmAccounts& accounts, Snapshot& snapshot, ImportNotes& notes) : snapshot_(snapshot), notes_(notes) {
    for (const SlurmQos& one : accounts.qos) by_name_.emplace(one.name, &one);
    for (std::size_t i = 0; i < snapshot.queues.size(); ++i) at_.emplace(snapshot.queues[i].id, i);
  }

  void add(const std::vector<SlurmMember>& members) {
    std::set<std::string> left;
    for (std::size_t j = 0; j < members.size(); ++j) {
      const auto qos = by_name_.find(members[j].qos);
      if (qos == by_name_.end()) continue;
      Job& job = snapshot_.jobs[j];
      std::string queue = queue_of(*qos->second, members[j], job);
      if (queue == job.queue) continue;
      left.insert(std::exchange(job.queue, std::move(queue)));
    }
    remove_idle(left);
  }

 private:
  static std::string in(const std::string& queue) { return queue.empty() ? "" : queue + "/"; }

  using Limit = std::pair<const SlurmQos*, std::string>;  // of a QOS, for a user or an account

  std::string queue_of(const SlurmQos& qos, const SlurmMember& of, const Job& job) {
    const std::string name = "qos=" + qos.name;
    std::string queue = job.queue;
    bool in_qos = false;
    // Slurm takes a limit of the QOS in place of those of associations.
    if (!qos.limits.empty()) {
      if (has_limits(queue)) notes_.count("job", " of a QOS with GrpTRES: it does not count in the limits of its account", job.id);
      queue = queue_below("", name, qos.limits);
      in_qos = true;
    }
    if (!qos.of_account.empty() && !of.account.empty()) {
      if (in_qos || queue == of.account) {
        queue = queue_below(queue, in(queue) + (in_qos ? of.account : name), qos.of_account);
        in_qos = true;
      } else {
        notes_.count("job", " of a user with GrpTRES: MaxTRESPA of its QOS is left out", job.id);
      }
    }
    if (!qos.of_user.empty() && !of.user.empty()) {
      const bool over_all = in_qos && qos.of_account.empty();
      const auto [seen, fresh] = accounts_of_.try_emplace(Limit{&qos, of.user}, of.account);
      if (!over_all && !fresh && seen->second != of.account && several_.insert(seen->first).second)
        notes_.count("user", " with jobs of one QOS in several accounts: MaxTRESPU holds in each of these", of.user);
      queue = queue_below(queue, in(queue) + (in_qos ? "" : in(name)) + of.user, qos.of_user);
    }
    return queue;
  }

  /// Of a queue, or one above it.
  bool has_limits(const std::string& id) const {
    for (auto at = at_.find(id); at != at_.end(); at = at_.find(snapshot_.queues[at->second].parent)) {
      if (!snapshot_.queues[at->second].quotas.empty()) return true;
    }
    return false;
  }

  const std::string& queue_below(const std::string& parent, const std::string& id, const SlurmGpuLimits& limits) {
    const auto [known, fresh] = made_.try_emplace({parent, id}, id);
    std::string& own = known->second;
    if (!fresh) return own;
    while (at_.count(own) > 0) own += "'";
    at_.emplace(own, snapshot_.queues.size());
    Queue& queue = snapshot_.queues.emplace_back();
    queue.id = own;
    queue.parent = parent;
    queue.quotas = slurm_quotas(limits, snapshot_, notes_);
    return own;
  }

  /// Accounts of which no job is left, and that say nothing.
  void remove_idle(const std::set<std::string>& left) {
    std::set<std::string> used;
    for (const Job& job : snapshot_.jobs) used.insert(job.queue);
    for (const Queue& queue : snapshot_.queues) used.insert(queue.parent);
    std::erase_if(snapshot_.queues, [&](const Queue& queue) {
      return left.count(queue.id) > 0 && used.count(queue.id) == 0 && queue.quotas.empty() && queue.parent.empty();
    });
  }

  Snapshot& snapshot_;
  ImportNotes& notes_;
  std::map<std::string, const SlurmQos*> by_name_;
  std::unordered_map<std::string, std::size_t> at_;                  // of queues, by id
  std::map<std::pair<std::string, std::string>, std::string> made_;  // ids, by parent and name
  std::map<Limit, std::string> accounts_of_;                         // the first one
  std::set<Limit> several_;
};

}  // namespace

void add_slurm_qos(const SlurmAccounts& accounts, const std::vector<SlurmMember>& members, Snapshot& snapshot, ImportNotes& notes) {
  const bool any = std::any_of(accounts.qos.begin(), accounts.qos.end(),
                               [](const SlurmQos& one) { return !one.limits.empty() || !one.of_account.empty() || !one.of_user.empty(); });
  if (any) QosQueues(accounts, snapshot, notes).add(members);
}

}  // namespace berth::io
