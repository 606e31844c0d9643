#include <algorithm>
#include <cstddef>

#include "berth/kernel/base/to_index.hpp"
#include "berth/kernel/contend/quantise.hpp"
#include "host/cpu/contend.hpp"
#include "host/cpu/contend_rows.hpp"

namespace berth::cpu {
namespace {

constexpr std::int32_t kLinksTogether = 16;

/// Products of four candidates with one job. 16-bit factors and 32-bit sums are one instruction for eight links.
void four_products(const std::int16_t* left, const std::int16_t* right, std::int32_t links, std::int32_t* out) {
  std::int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
  for (std::int32_t l = 0; l < links; ++l) {
    sum0 += left[l] * right[l];
    sum1 += left[links + l] * right[l];
    sum2 += left[2 * links + l] * right[l];
    sum3 += left[3 * links + l] * right[l];
  }
  out[0] = sum0;
  out[1] = sum1;
  out[2] = sum2;
  out[3] = sum3;
}

}  // namespace

// A product of all pairs pays when each pair shares many links: kLinksOfAnAdd links cost as much as one addition of the
// sparse method (docs/contention.md has the measurement).
bool CpuContention::dense(const kernel::ContendView& problem, const kernel::ContendRequest& request) const {
  if (problem.n_links > kernel::kMostDenseLinks || request.method == kernel::ContendMethod::kSparse) return false;
  if (request.method == kernel::ContendMethod::kDense) return true;
  constexpr std::int64_t kLinksOfAnAdd = 16;
  std::vector<std::int64_t> users(to_index(problem.n_links), 0);
  for (std::int32_t at = 0; at < problem.job_begin[problem.n_jobs]; ++at) ++users[to_index(problem.job_link[at])];
  std::int64_t adds = 0;
  for (std::int32_t at = 0; at < request.begin[request.n]; ++at) adds += users[to_index(request.link[at])];
  return adds / std::max(1, request.n) * kLinksOfAnAdd > std::int64_t{problem.n_jobs} * problem.n_links;
}

void CpuContention::fill_dense(const kernel::ContendView& problem) {
  dense_links_ = (problem.n_links + kLinksTogether - 1) / kLinksTogether * kLinksTogether;
  dense_.assign(to_index(problem.n_jobs) * to_index(dense_links_), 0);
  for (std::int32_t j = 0; j < problem.n_jobs; ++j) {
    std::int16_t* const row = dense_.data() + std::int64_t{j} * dense_links_;
    for (std::int32_t at = problem.job_begin[j]; at < problem.job_begin[j + 1]; ++at)
      row[problem.job_link[at]] = static_cast<std::int16_t>(kernel::pair_use(problem.job_use[at]));
  }
}

void CpuContention::dense_rows(const kernel::ContendView& problem, const kernel::ContendRequest& request, std::int32_t first,
                               std::int32_t last, const kernel::ContendResult& result, Lane& lane) const {
  lane.dense.assign(to_index(kTogether * dense_links_), 0);
  kernel::ContendTop top[kTogether];
  for (std::int32_t i = first; i < last; ++i) {
    top[i - first] = {lane.top[i - first].value, lane.top[i - first].job, request.k, 0};
    weigh(problem, request, i, result, lane);
    for (std::size_t e = 0; e < lane.link.size(); ++e)
      lane.dense[to_index((i - first) * dense_links_ + lane.link[e])] = static_cast<std::int16_t>(lane.left[e]);
  }
  for (const JobTile& tile : tiles_) {
    const std::int32_t padded = whole_contend_blocks(tile.jobs);
    lane.wide.assign(to_index(kTogether * padded), 0);
    lane.block_most.resize(to_index(padded / kContendBlock));
    for (std::int32_t j = 0; j < tile.jobs; ++j) {
      std::int32_t sums[kTogether];
      four_products(lane.dense.data(), dense_.data() + std::int64_t{tile.first + j} * dense_links_, dense_links_, sums);
      for (std::int32_t r = 0; r < kTogether; ++r) lane.wide[to_index(r * padded + j)] = static_cast<std::uint32_t>(sums[r]);
    }
    for (std::int32_t i = first; i < last; ++i) {
      collect_tile(problem, request, result, i, tile.first, tile.jobs, lane.wide.data() + to_index((i - first) * padded),
                   lane.block_most.data(), top[i - first]);
    }
  }
  for (std::int32_t i = first; i < last; ++i) write_top(request, result, i, top[i - first]);
}

}  // namespace berth::cpu
