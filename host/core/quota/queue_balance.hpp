#pragma once

#include <cstdint>
#include <vector>

#include "host/core/quota/quota_ledger.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {

/// What queues have, and what their jobs are entitled to, kept up job by job while a state changes (docs/quotas.md, "Shares").
///
/// A job that waits is entitled if its queue stays within its guarantee with it, whatever the policy and its `quotas`.
class QueueBalance {
 public:
  /// Of a queue with those below it, in millionths of a GPU.
  struct Row {
    std::int64_t has = 0;
    std::int64_t guaranteed = 0;  ///< as far as jobs ask for it; see QuotaLedger::entitled
    std::int64_t fair = 0;        ///< its share of all GPUs that work
  };

  /// Takes every job of the state. Needed at first, and after queues have changed.
  void begin(const StateView& state);
  /// The job has come, or has other GPUs or shapes than before.
  void put(const StateView& state, std::int32_t job);
  void remove(std::int32_t job);
  /// After the last change: finds shares. O(queues * types + nodes).
  void divide(const StateView& state);

  /// -1: of none, or not there.
  std::int32_t queue_of(std::int32_t job) const { return at(job).queue; }
  bool runs(std::int32_t job) const { return at(job).held.gpus > 0; }
  std::int32_t parent_of(std::int32_t queue) const { return parent_[static_cast<std::size_t>(queue)]; }
  const Row& row(std::int32_t queue) const { return rows_[static_cast<std::size_t>(queue)]; }
  /// Whether `divide` found other room within the guarantee of the queue, without those below it, than the time before.
  bool room_changed(std::int32_t queue) const { return changed_[static_cast<std::size_t>(queue)] != 0; }
  /// Of a job that waits.
  bool is_entitled(std::int32_t job) const { return ledger_.is_within(at(job).queue, at(job).asked, false); }
  /// Whether each of these running jobs of one queue was entitled when those before it in the list had started. O(jobs).
  void were_entitled(const std::vector<std::int32_t>& started, std::vector<std::uint8_t>& out);

 private:
  const QuotaJob& at(std::int32_t job) const;
  void count(const QuotaJob& job, bool adds);

  std::vector<QuotaJob> jobs_;  // [jobs]
  std::vector<std::int32_t> parent_;
  std::vector<Row> rows_;              // [queues]
  std::vector<std::int64_t> room_;     // [queues * columns] within the guarantee
  std::vector<std::uint8_t> changed_;  // [queues]
  std::int32_t columns_ = 0;
  QuotaLedger ledger_;
};

}  // namespace berth::core
