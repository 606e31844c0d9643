#include "host/cpu/contend.hpp"

#include <algorithm>
#include <cstddef>

#include "berth/kernel/base/to_index.hpp"
#include "berth/kernel/contend/loads.hpp"
#include "berth/kernel/contend/quantise.hpp"
#include "berth/kernel/contend/top.hpp"
#include "host/cpu/for_each.hpp"

namespace berth::cpu {
namespace {

constexpr std::int32_t kMostTileJobs = 12'288;  // 24 KB of 16-bit sums
constexpr std::int32_t kBlock = 64;             // sums whose largest is found together

std::int32_t whole_blocks(std::int32_t n) { return (n + kBlock - 1) / kBlock * kBlock; }

bool wants_loads(const kernel::ContendResult& result) {
  return result.load_sum != nullptr || result.load_max != nullptr || result.overload != nullptr || result.failed != nullptr;
}

bool wants_top(const kernel::ContendRequest& request, const kernel::ContendResult& result) {
  return request.k > 0 && (result.top_value != nullptr || result.top_job != nullptr);
}

/// Adds left x use to the sums of the jobs of a column. No job is in it twice.
template <class Sum>
void add_column(const std::uint32_t* at, const std::uint32_t* end, std::uint32_t left, Sum* sums) {
  for (; at != end; ++at) sums[*at >> 8] = static_cast<Sum>(sums[*at >> 8] + left * (*at & 0xFF));
}

/// The k-th largest of the first n values; n >= k >= 1.
std::uint32_t kth_largest(const std::uint32_t* values, std::int32_t n, std::int32_t k) {
  std::uint32_t largest[kernel::kMostContendTop];
  std::fill_n(largest, k, 0U);
  for (std::int32_t i = 0; i < n; ++i) {
    const std::uint32_t v = values[i];
    if (v <= largest[k - 1]) continue;
    std::int32_t at = k - 1;
    for (; at > 0 && largest[at - 1] < v; --at) largest[at] = largest[at - 1];
    largest[at] = v;
  }
  return largest[k - 1];
}

/// Keeps the largest sums of a tile. A block is read again only where its largest sum may be among the k largest.
template <class Sum>
void keep_largest(const Sum* sums, std::int32_t n, std::int32_t first_job, std::uint32_t* block_most, kernel::ContendTop& top) {
  const std::int32_t blocks = n / kBlock;
  for (std::int32_t b = 0; b < blocks; ++b) {
    Sum most = 0;
    for (std::int32_t i = 0; i < kBlock; ++i) most = std::max(most, sums[b * kBlock + i]);
    block_most[b] = most;
  }
  std::uint32_t bar = 0;  // values above it are kept
  if (blocks >= top.k) {
    const std::uint32_t kth = kth_largest(block_most, blocks, top.k);
    bar = kth == 0 ? 0 : kth - 1;  // at least k sums reach it, and those that equal it come in the order of jobs
  }
  bar = std::max(bar, static_cast<std::uint32_t>(top.bar()));
  for (std::int32_t b = 0; b < blocks; ++b) {
    if (block_most[b] <= bar) continue;
    for (std::int32_t i = b * kBlock; i < (b + 1) * kBlock; ++i) {
      if (sums[i] <= bar) continue;
      top.add(static_cast<std::int32_t>(sums[i]), first_job + i);
      bar = std::max(bar, static_cast<std::uint32_t>(top.bar()));
    }
  }
}

/// The product of a candidate and one running job.
std::int64_t pair_value(const kernel::ContendView& problem, const std::vector<std::int32_t>& links, const std::vector<std::int32_t>& left,
                        std::int32_t job) {
  kernel::UsesOfJob uses(problem, job);
  std::int64_t value = 0;
  for (std::size_t i = 0; i < links.size(); ++i) value += std::int64_t{left[i]} * kernel::pair_use(uses.of(links[i]));
  return value;
}

}  // namespace

void CpuContention::run(const kernel::ContendView& problem, const kernel::ContendRequest& request, const kernel::ContendResult& result,
                        int threads) {
  const bool with_loads = request.n > 0 && wants_loads(result);
  if (result.load != nullptr || (with_loads && problem.load == nullptr)) sum_loads(problem, result);
  if (with_loads) {
    const std::int64_t* const load = problem.load == nullptr ? load_.data() : problem.load;
    constexpr std::int64_t kCandidates = 2048;  // about 100 microseconds
    for_each_n(threads, request.n, kCandidates, [&](std::int64_t i) {
      kernel::SerialGroup group;
      kernel::contend_loads(group, problem, load, request, static_cast<std::int32_t>(i), result);
    });
  }
  const bool with_pairs = wants_top(request, result) || result.pair_value != nullptr;
  if (request.n == 0 || !(with_pairs || result.pair_sum != nullptr)) return;
  if (with_pairs) index_jobs(problem);
  if (result.pair_sum != nullptr) sum_weights(problem);
  constexpr std::int64_t kRows = 32;
  Threads started(std::min<std::int64_t>(threads, (request.n + kRows - 1) / kRows));
  if (lanes_.size() < started.n()) lanes_.resize(started.n());
  for_each_in_lanes(started, request.n, kRows,
                    [&](std::int64_t i, std::size_t lane) { pairs(problem, request, static_cast<std::int32_t>(i), result, lanes_[lane]); });
}

void CpuContention::sum_loads(const kernel::ContendView& problem, const kernel::ContendResult& result) {
  load_.assign(to_index(problem.n_links), 0);
  kernel::add_row(load_.data(), problem.job_link, problem.job_use, problem.job_begin[problem.n_jobs]);
  if (result.load != nullptr) std::copy(load_.begin(), load_.end(), result.load);
}

// Counts, then fills: jobs ascend in each column.
void CpuContention::index_jobs(const kernel::ContendView& problem) {
  const std::int32_t n_tiles = (problem.n_jobs + kMostTileJobs - 1) / kMostTileJobs;
  const std::int32_t jobs = n_tiles == 0 ? 0 : whole_blocks((problem.n_jobs + n_tiles - 1) / n_tiles);
  tiles_.clear();
  for (std::int32_t first = 0; first < problem.n_jobs; first += jobs) tiles_.push_back({first, std::min(jobs, problem.n_jobs - first)});
  const std::size_t links = to_index(problem.n_links);
  column_begin_.assign(tiles_.size() * links + 1, 0);
  column_most_.assign(links, 0);
  const auto for_each_entry = [&](const auto& visit) {
    for (std::size_t t = 0; t < tiles_.size(); ++t) {
      for (std::int32_t j = 0; j < tiles_[t].jobs; ++j) {
        const std::int32_t job = tiles_[t].first + j;
        for (std::int32_t at = problem.job_begin[job]; at < problem.job_begin[job + 1]; ++at) {
          const std::int32_t use = kernel::pair_use(problem.job_use[at]);
          if (use > 0) visit(t * links, to_index(problem.job_link[at]), j, use);
        }
      }
    }
  };
  for_each_entry([&](std::size_t tile, std::size_t link, std::int32_t, std::int32_t use) {
    ++column_begin_[tile + link];
    column_most_[link] = std::max(column_most_[link], use);
  });
  std::int32_t entries = 0;
  for (std::int32_t& column : column_begin_) {
    const std::int32_t count = column;
    column = entries;
    entries += count;
  }
  columns_.resize(to_index(entries));
  next_.assign(column_begin_.begin(), column_begin_.end());
  for_each_entry([&](std::size_t tile, std::size_t link, std::int32_t j, std::int32_t use) {
    columns_[to_index(next_[tile + link]++)] = static_cast<std::uint32_t>(j) << 8 | static_cast<std::uint32_t>(use);
  });
}

void CpuContention::sum_weights(const kernel::ContendView& problem) {
  column_sum_.assign(to_index(problem.n_links), 0);
  for (std::int32_t j = 0; j < problem.n_jobs; ++j) {
    const std::int64_t weight = problem.job_weight == nullptr ? 1 : problem.job_weight[j];
    for (std::int32_t at = problem.job_begin[j]; at < problem.job_begin[j + 1]; ++at)
      column_sum_[to_index(problem.job_link[at])] += weight * kernel::pair_use(problem.job_use[at]);
  }
}

void CpuContention::pairs(const kernel::ContendView& problem, const kernel::ContendRequest& request, std::int32_t candidate,
                          const kernel::ContendResult& result, Lane& lane) const {
  lane.link.clear();
  lane.left.clear();
  for (std::int32_t at = request.begin[candidate]; at < request.begin[candidate + 1]; ++at) {
    const std::int32_t weight = problem.weight == nullptr ? kernel::kUseOne : problem.weight[request.link[at]];
    const std::int32_t left = kernel::weighted_use(request.use[at], weight, request.limbs);
    if (left == 0) continue;
    lane.link.push_back(request.link[at]);
    lane.left.push_back(left);
  }
  const std::int32_t excluded = kernel::excluded_job(request, candidate);
  if (result.pair_sum != nullptr) {
    // The sum over jobs of products is a product with the sum over jobs.
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < lane.link.size(); ++i) sum += lane.left[i] * column_sum_[to_index(lane.link[i])];
    if (excluded >= 0) {
      const std::int64_t weight = problem.job_weight == nullptr ? 1 : problem.job_weight[excluded];
      sum -= weight * pair_value(problem, lane.link, lane.left, excluded);
    }
    result.pair_sum[candidate] = sum;
  }
  if (!wants_top(request, result) && result.pair_value == nullptr) return;
  std::int64_t most = 0;
  for (std::size_t i = 0; i < lane.link.size(); ++i) most += std::int64_t{lane.left[i]} * column_most_[to_index(lane.link[i])];
  if (most <= UINT16_MAX) {
    row(problem, request, candidate, result, lane, lane.narrow);
  } else {
    row(problem, request, candidate, result, lane, lane.wide);
  }
}

template <class Sum>
void CpuContention::row(const kernel::ContendView& problem, const kernel::ContendRequest& request, std::int32_t candidate,
                        const kernel::ContendResult& result, Lane& lane, std::vector<Sum>& sums) const {
  const std::int32_t excluded = kernel::excluded_job(request, candidate);
  const bool with_top = wants_top(request, result);
  kernel::ContendTop top{lane.top_value, lane.top_job, request.k, 0};
  const std::size_t n = lane.link.size();
  for (std::size_t t = 0; t < tiles_.size(); ++t) {
    const JobTile tile = tiles_[t];
    const std::int32_t padded = whole_blocks(tile.jobs);
    sums.assign(to_index(padded), 0);
    const std::int32_t* const begin = column_begin_.data() + t * to_index(problem.n_links);
    for (std::size_t i = 0; i < n; ++i) {
      constexpr std::size_t kAhead = 2;
      if (i + kAhead < n) {
        const std::uint32_t* const next = columns_.data() + begin[lane.link[i + kAhead]];
        for (int line = 0; line < 4; ++line) BERTH_PREFETCH(next + 16 * line);
      }
      const std::uint32_t* const column = columns_.data();
      add_column(column + begin[lane.link[i]], column + begin[lane.link[i] + 1], static_cast<std::uint32_t>(lane.left[i]), sums.data());
    }
    if (excluded >= tile.first && excluded < tile.first + tile.jobs) sums[to_index(excluded - tile.first)] = 0;
    if (result.pair_value != nullptr) {
      std::int32_t* const to = result.pair_value + std::int64_t{candidate} * problem.n_jobs + tile.first;
      for (std::int32_t j = 0; j < tile.jobs; ++j) to[j] = static_cast<std::int32_t>(sums[to_index(j)]);
    }
    if (!with_top) continue;
    lane.block_most.resize(to_index(padded / kBlock));
    keep_largest(sums.data(), padded, tile.first, lane.block_most.data(), top);
  }
  if (!with_top) return;
  top.finish();
  const std::int64_t at = std::int64_t{candidate} * request.k;
  if (result.top_value != nullptr) std::copy_n(lane.top_value, request.k, result.top_value + at);
  if (result.top_job != nullptr) std::copy_n(lane.top_job, request.k, result.top_job + at);
}

}  // namespace berth::cpu
