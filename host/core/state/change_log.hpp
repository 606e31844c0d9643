#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::core {

/// Which jobs and nodes of a state changed, for readers that keep something compiled from it. A reader remembers how far
/// it has read. What is old is forgotten: its readers then begin again.
class ChangeLog {
 public:
  /// How far a reader has read; a new one has read nothing.
  struct Cursor {
    std::uint64_t epoch = 0;
    std::size_t jobs = 0, nodes = 0;
  };

  void job(std::int32_t index) { add(jobs_, index); }
  void node(std::int32_t rank) { add(nodes_, rank); }
  /// Jobs and nodes are others, or all of them may have changed.
  void everything() {
    ++epoch_;
    jobs_.clear();
    nodes_.clear();
  }

  /// Appends what changed since the cursor, in order and with repeats, and moves it to the end.
  /// @returns false where everything may have changed
  bool read(Cursor& cursor, std::vector<std::int32_t>& jobs, std::vector<std::int32_t>& nodes) const {
    const bool known = cursor.epoch == epoch_;
    if (known) {
      jobs.insert(jobs.end(), jobs_.begin() + static_cast<std::ptrdiff_t>(cursor.jobs), jobs_.end());
      nodes.insert(nodes.end(), nodes_.begin() + static_cast<std::ptrdiff_t>(cursor.nodes), nodes_.end());
    }
    cursor = {epoch_, jobs_.size(), nodes_.size()};
    return known;
  }

 private:
  static constexpr std::size_t kMost = 1U << 18;

  void add(std::vector<std::int32_t>& to, std::int32_t one) {
    if (to.size() >= kMost) everything();
    to.push_back(one);
  }

  std::uint64_t epoch_ = 1;
  std::vector<std::int32_t> jobs_, nodes_;
};

}  // namespace berth::core
