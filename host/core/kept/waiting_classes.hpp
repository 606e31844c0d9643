#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace berth::core {

/// A job in the order of a pass: by level, then by key, then by label (StateImpl::job_label).
struct OrderPlace {
  std::int64_t key = 0, label = 0;
  std::int32_t job = -1;
  std::int32_t level = 0;  ///< below 0: ahead of all of a higher level

  bool is_at(const OrderPlace& other) const { return level == other.level && key == other.key && label == other.label; }
  /// Labels of jobs that are there differ. A job that came may have that of one that left, until both are read.
  bool operator<(const OrderPlace& other) const {
    // Written out: orders are searched in every decision, and a comparison of tuples takes twice as long.
    if (level != other.level) return level < other.level;
    if (key != other.key) return key < other.key;
    if (label != other.label) return label < other.label;
    return job < other.job;
  }
};

/// Waiting jobs in classes. Jobs of one class ask for the same in all their options, on the same nodes, and count against
/// the same queues: where one finds no room, none behind it does.
class WaitingClasses {
 public:
  static constexpr std::int32_t kNone = -1;

  void clear() {
    ids_.clear();
    kinds_.clear();
    queue_.clear();
    jobs_.clear();
    first_.clear();
    class_of_.clear();
    place_of_.clear();
    n_jobs_ = 0;
    dropped_.clear();
    vacant_.clear();
    empty_ = 0;
    changed_.clear();
    is_changed_.clear();
  }
  /// Adds many jobs one after another, which `end_filling` puts in order.
  void begin_filling() { filling_ = true; }
  void end_filling() {
    for (std::size_t of = 0; of < jobs_.size(); ++of) {
      std::sort(jobs_[of].begin(), jobs_[of].end());
      read_first(of);
    }
    filling_ = false;
  }
  /// @param kind  what makes the class: queue, preemption class, demands with ends (rows of TimedDemands)
  void add(const std::vector<std::int32_t>& kind, const OrderPlace& place) {
    const auto [found, fresh] = ids_.try_emplace(kind, vacant_.empty() ? static_cast<std::int32_t>(jobs_.size()) : vacant_.back());
    const auto of = static_cast<std::size_t>(found->second);
    if (!fresh) {
      empty_ -= jobs_[of].empty() ? 1 : 0;
    } else if (of == jobs_.size()) {
      jobs_.emplace_back();
      first_.emplace_back();
      kinds_.push_back(&found->first);
      queue_.push_back(kind.front());
    } else {
      kinds_[of] = &found->first;
      queue_[of] = kind.front();
      vacant_.pop_back();
    }
    const auto job = static_cast<std::size_t>(place.job);
    if (class_of_.size() <= job) {
      class_of_.resize(job + 1, kNone);
      place_of_.resize(job + 1);
    }
    class_of_[job] = found->second;
    place_of_[job] = place;
    ++n_jobs_;
    std::vector<OrderPlace>& jobs = jobs_[of];
    jobs.insert(filling_ ? jobs.end() : std::upper_bound(jobs.begin(), jobs.end(), place), place);
    read_first(of);
  }
  /// Nothing where the job is in no class.
  void remove(std::int32_t job) {
    const auto at = static_cast<std::size_t>(job);
    if (at >= class_of_.size() || class_of_[at] == kNone) return;
    const auto of = static_cast<std::size_t>(class_of_[at]);
    std::vector<OrderPlace>& jobs = jobs_[of];
    jobs.erase(std::lower_bound(jobs.begin(), jobs.end(), place_of_[at]));
    read_first(of);
    class_of_[at] = kNone;
    --n_jobs_;
    empty_ += jobs.empty() ? 1 : 0;
  }
  /// Puts a job at another level. Nothing where it is in no class. O(jobs of its class).
  void set_level(std::int32_t job, std::int32_t level) {
    const auto at = static_cast<std::size_t>(job);
    if (at >= class_of_.size() || class_of_[at] == kNone || place_of_[at].level == level) return;
    const auto of = static_cast<std::size_t>(class_of_[at]);
    std::vector<OrderPlace>& jobs = jobs_[of];
    jobs.erase(std::lower_bound(jobs.begin(), jobs.end(), place_of_[at]));
    place_of_[at].level = level;
    jobs.insert(std::upper_bound(jobs.begin(), jobs.end(), place_of_[at]), place_of_[at]);
    read_first(of);
  }
  /// Drops the classes without jobs where they are many. Their places are for classes that come.
  /// @returns these classes
  std::span<const std::int32_t> drop_empty() {
    dropped_.clear();
    if (empty_ <= kFew + jobs_.size() / 2) return dropped_;
    for (std::size_t of = 0; of < jobs_.size(); ++of) {
      if (kinds_[of] == nullptr || !jobs_[of].empty()) continue;
      ids_.erase(ids_.find(*kinds_[of]));
      kinds_[of] = nullptr;
      dropped_.push_back(static_cast<std::int32_t>(of));
    }
    vacant_.insert(vacant_.end(), dropped_.begin(), dropped_.end());
    empty_ = 0;
    return dropped_;
  }

  /// With those that were dropped, which have no jobs.
  std::size_t size() const { return jobs_.size(); }
  /// Of all classes.
  std::int64_t n_jobs() const { return n_jobs_; }
  /// Of a class that was not dropped, as `demands`.
  std::int32_t queue(std::size_t of) const { return queue_[of]; }
  /// Of the options, in their order: rows of TimedDemands.
  std::span<const std::int32_t> demands(std::size_t of) const { return std::span(*kinds_[of]).subspan(2); }
  /// Jobs of a class, in order.
  const std::vector<OrderPlace>& jobs(std::size_t of) const { return jobs_[of]; }
  /// The first of them; job -1: none.
  const OrderPlace& first(std::size_t of) const { return first_[of]; }
  /// Classes whose first job is another than when `clear_changed` was called.
  std::span<const std::int32_t> changed() const { return changed_; }
  void clear_changed() {
    for (const std::int32_t of : changed_) is_changed_[static_cast<std::size_t>(of)] = 0;
    changed_.clear();
  }
  /// [jobs of the state, or fewer] -1: none
  const std::vector<std::int32_t>& class_of() const { return class_of_; }

 private:
  static constexpr std::size_t kFew = 8;

  void read_first(std::size_t of) {
    const OrderPlace first = jobs_[of].empty() ? OrderPlace{} : jobs_[of].front();
    if (is_changed_.size() <= of) is_changed_.resize(of + 1, 0);
    if (is_changed_[of] == 0 && (first.job != first_[of].job || first < first_[of] || first_[of] < first)) {
      is_changed_[of] = 1;
      changed_.push_back(static_cast<std::int32_t>(of));
    }
    first_[of] = first;
  }

  std::map<std::vector<std::int32_t>, std::int32_t> ids_;
  std::vector<const std::vector<std::int32_t>*> kinds_;  // [classes] keys of `ids_`; null: dropped
  std::vector<std::int32_t> queue_;                      // [classes] the same: of a class that was dropped, any
  std::vector<std::vector<OrderPlace>> jobs_;
  std::vector<OrderPlace> first_;       // [classes]
  std::vector<std::int32_t> class_of_;  // [jobs of the state]
  std::vector<OrderPlace> place_of_;    // the same; of jobs in a class
  std::vector<std::int32_t> changed_;
  std::vector<std::uint8_t> is_changed_;  // [classes]
  std::int64_t n_jobs_ = 0;
  std::vector<std::int32_t> dropped_;  // by the last call
  std::vector<std::int32_t> vacant_;   // classes that were dropped
  std::size_t empty_ = 0;              // that were not, and have no jobs
  bool filling_ = false;
};

}  // namespace berth::core
