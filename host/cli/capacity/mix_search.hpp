#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "host/cli/capacity/size_search.hpp"

namespace berth::cli {

/// How many nodes of each kind that can be bought.
using NodeMix = std::vector<std::int64_t>;

/// The search over counts of nodes: of each kind alone, then of mixes of two kinds. For some counts of the first kind it finds the smallest
/// count of the second that is enough, within the bounds that the neighbours give; then it goes on around the cheapest one.
class MixSearch {
 public:
  using Cost = std::function<double(const NodeMix& mix)>;

  /// @param alone  for each kind
  /// @param mixes  also mixes, where there are two kinds
  /// @param cost   of a mix that was tried; the cheapest is looked for
  /// @param least  what a mix costs at least; those that cannot be cheaper than the cheapest so far are not tried
  MixSearch(std::vector<SizeRange> alone, bool mixes, Cost cost, Cost least);

  /// Mixes to be tried next; none: the search is over. @param holds  of those that were tried
  std::vector<NodeMix> next(const std::map<NodeMix, bool>& holds);

  /// A line of sizes: one kind grows, and the others stay.
  struct Line {
    std::size_t kind = 0;
    NodeMix others;
    SizeRange range;
    bool over = false;
    std::optional<std::int64_t> answer;

    NodeMix mix(std::int64_t size) const;
  };
  const std::vector<Line>& lines() const { return lines_; }
  /// Answers of all lines.
  std::vector<NodeMix> answers() const;
  /// The cheapest of them; of equals the first.
  std::optional<NodeMix> cheapest() const;

  static std::map<std::int64_t, bool> sizes_of(const Line& line, const std::map<NodeMix, bool>& holds);

 private:
  struct Known {
    std::int64_t first = 0;             // nodes of the first kind
    std::optional<std::int64_t> other;  // nodes of the second that are enough; nothing: not known, or none are
  };

  std::vector<Known> known() const;
  /// More lines; false: there are none.
  bool add_lines();
  bool add_between(const Known& left, const Known& right);
  bool refine();

  std::vector<SizeRange> alone_;
  bool mixes_;
  Cost cost_, least_;
  std::vector<Line> lines_;
  int levels_ = 0, refined_ = 0;
};

}  // namespace berth::cli
