#pragma once

#include <cstdint>
#include <vector>

#include "host/sim/counts/counted_job.hpp"

namespace berth::sim {

/// Waiting jobs in order, with their run times. Finds the first that is short enough; changes and searches take O(log n).
/// A treap: a search tree by place and a heap by numbers that are drawn.
class RunTree {
 public:
  bool empty() const { return root_ < 0; }
  /// kNoJob: none.
  JobPlace first() const;
  /// The first behind `place` that runs for `longest` at most; kNoJob: none. Unknown run times are kNever, which `longest` may be, too.
  JobPlace first_behind(const JobPlace& place, TimeUs longest) const;
  void insert(const JobPlace& place, TimeUs run);
  /// A job that is in it.
  void erase(const JobPlace& place);

 private:
  struct Entry {
    JobPlace place;
    TimeUs run, shortest;  // `shortest` of the entries below it and its own
    std::int32_t before, behind;
    std::uint32_t height;  // drawn; no entry below has a greater one
  };
  Entry& at(std::int32_t entry) { return entries_[static_cast<std::size_t>(entry)]; }
  const Entry& at(std::int32_t entry) const { return entries_[static_cast<std::size_t>(entry)]; }
  std::int32_t search(std::int32_t below, const JobPlace& place, TimeUs longest) const;
  void update(std::int32_t entry);
  void insert_below(std::int32_t& root, std::int32_t entry);
  void split(std::int32_t root, const JobPlace& place, std::int32_t& before, std::int32_t& behind);
  std::int32_t join(std::int32_t before, std::int32_t behind);
  void erase_below(std::int32_t& root, const JobPlace& place);

  std::vector<Entry> entries_;
  std::vector<std::int32_t> unused_;
  std::int32_t root_ = -1;
  std::uint64_t drawn_ = 0;
};

}  // namespace berth::sim
