#include "host/cpu/contend.hpp"

#include <algorithm>
#include <cstddef>

#include "berth/kernel/base/to_index.hpp"
#include "berth/kernel/contend/loads.hpp"
#include "berth/kernel/contend/quantise.hpp"
#include "berth/kernel/contend/top.hpp"
#include "host/cpu/contend_rows.hpp"
#include "host/cpu/for_each.hpp"

namespace berth::cpu {
namespace {

constexpr std::int32_t kMostTileJobs = 12'288;  // 24 KB of 16-bit sums

bool wants_loads(const kernel::ContendResult& result) {
  return result.load_sum != nullptr || result.load_max != nullptr || result.overload != nullptr || result.failed != nullptr;
}

/// Adds left x use to the sums of the jobs of a column. No job is in it twice.
template <class Sum>
void add_column(const std::uint16_t* job, const std::uint8_t* use, std::int32_t n, std::uint32_t left, Sum* sums) {
  const auto add = [&](std::int32_t i) { sums[job[i]] = static_cast<Sum>(sums[job[i]] + left * use[i]); };
  std::int32_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (std::int32_t j = 0; j < 8; ++j) add(i + j);
  }
  for (; i < n; ++i) add(i);
}

/// The first cache lines of a column that comes soon. Columns are too short for the processor to see it coming.
void prefetch_column(const std::uint16_t* job, const std::uint8_t* use) {
  constexpr std::ptrdiff_t kLine = 64;
  for (std::ptrdiff_t line = 0; line < 3; ++line) BERTH_PREFETCH(job + line * kLine / 2);
  for (std::ptrdiff_t line = 0; line < 2; ++line) BERTH_PREFETCH(use + line * kLine);
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
  const bool by_pairs = with_pairs && dense(problem, request);
  if (with_pairs) make_tiles(problem);
  if (by_pairs) fill_dense(problem);
  if (with_pairs && !by_pairs) index_jobs(problem);
  if (result.pair_sum != nullptr) sum_weights(problem);
  constexpr std::int64_t kRows = 32;
  Threads started(std::min<std::int64_t>(threads, (request.n + kRows - 1) / kRows));
  if (lanes_.size() < started.n()) lanes_.resize(started.n());
  if (by_pairs) {
    for_each_in_lanes(started, (request.n + kTogether - 1) / kTogether, kRows / kTogether, [&](std::int64_t i, std::size_t lane) {
      const auto first = static_cast<std::int32_t>(i * kTogether);
      dense_rows(problem, request, first, std::min(first + kTogether, request.n), result, lanes_[lane]);
    });
    return;
  }
  for_each_in_lanes(started, request.n, kRows, [&](std::int64_t i, std::size_t lane) {
    weigh(problem, request, static_cast<std::int32_t>(i), result, lanes_[lane]);
    if (with_pairs) sparse_row(problem, request, static_cast<std::int32_t>(i), result, lanes_[lane]);
  });
}

void CpuContention::sum_loads(const kernel::ContendView& problem, const kernel::ContendResult& result) {
  load_.assign(to_index(problem.n_links), 0);
  kernel::add_row(load_.data(), problem.job_link, problem.job_use, problem.job_begin[problem.n_jobs]);
  if (result.load != nullptr) std::copy(load_.begin(), load_.end(), result.load);
}

void CpuContention::make_tiles(const kernel::ContendView& problem) {
  const std::int32_t n_tiles = (problem.n_jobs + kMostTileJobs - 1) / kMostTileJobs;
  const std::int32_t jobs = n_tiles == 0 ? 1 : whole_contend_blocks((problem.n_jobs + n_tiles - 1) / n_tiles);
  tiles_.clear();
  for (std::int32_t first = 0; first < problem.n_jobs; first += jobs) tiles_.push_back({first, std::min(jobs, problem.n_jobs - first)});
}

// Counts, then fills: jobs ascend in each column.
void CpuContention::index_jobs(const kernel::ContendView& problem) {
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
  column_job_.resize(to_index(entries));
  column_use_.resize(to_index(entries));
  next_.assign(column_begin_.begin(), column_begin_.end());
  for_each_entry([&](std::size_t tile, std::size_t link, std::int32_t j, std::int32_t use) {
    const std::size_t at = to_index(next_[tile + link]++);
    column_job_[at] = static_cast<std::uint16_t>(j);
    column_use_[at] = static_cast<std::uint8_t>(use);
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

void CpuContention::weigh(const kernel::ContendView& problem, const kernel::ContendRequest& request, std::int32_t candidate,
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
}

void CpuContention::sparse_row(const kernel::ContendView& problem, const kernel::ContendRequest& request, std::int32_t candidate,
                               const kernel::ContendResult& result, Lane& lane) const {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < lane.link.size(); ++i) most += std::int64_t{lane.left[i]} * column_most_[to_index(lane.link[i])];
  if (most <= UINT16_MAX) {
    sum_row(problem, request, candidate, result, lane, lane.narrow);
  } else {
    sum_row(problem, request, candidate, result, lane, lane.wide);
  }
}

template <class Sum>
void CpuContention::sum_row(const kernel::ContendView& problem, const kernel::ContendRequest& request, std::int32_t candidate,
                            const kernel::ContendResult& result, Lane& lane, std::vector<Sum>& sums) const {
  kernel::ContendTop top{lane.top[0].value, lane.top[0].job, request.k, 0};
  const std::size_t n = lane.link.size();
  for (std::size_t t = 0; t < tiles_.size(); ++t) {
    const JobTile tile = tiles_[t];
    const std::int32_t padded = whole_contend_blocks(tile.jobs);
    sums.assign(to_index(padded), 0);
    lane.block_most.resize(to_index(padded / kContendBlock));
    const std::int32_t* const begin = column_begin_.data() + t * to_index(problem.n_links);
    for (std::size_t i = 0; i < n; ++i) {
      constexpr std::size_t kAhead = 2;
      if (i + kAhead < n) {
        const std::int32_t next = begin[lane.link[i + kAhead]];
        prefetch_column(column_job_.data() + next, column_use_.data() + next);
      }
      const std::int32_t first = begin[lane.link[i]], last = begin[lane.link[i] + 1];
      add_column(column_job_.data() + first, column_use_.data() + first, last - first, static_cast<std::uint32_t>(lane.left[i]),
                 sums.data());
    }
    collect_tile(problem, request, result, candidate, tile.first, tile.jobs, sums.data(), lane.block_most.data(), top);
  }
  write_top(request, result, candidate, top);
}

}  // namespace berth::cpu
