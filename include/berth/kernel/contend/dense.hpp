#pragma once

#include <cstdint>

#include "berth/kernel/base/bump_allocator.hpp"
#include "berth/kernel/base/host_device.hpp"
#include "berth/kernel/contend/pairs.hpp"

/// Products of all candidates with all running jobs, in bytes, for a device.
namespace berth::kernel {

/// Matrices of 7-bit uses by link. Rows have a multiple of 16 links, and there is a multiple of 4 jobs: the rest is 0.
struct ContendDense {
  std::int32_t links, jobs, rows, limbs;
  std::int8_t* left;      // [limbs][rows][links] of candidates; the upper seven bits come first
  std::int8_t* right;     // [jobs][links] of running jobs
  std::int32_t* product;  // [limbs][rows][jobs] left x right; null: it is computed where it is needed
};

/// Bytes of these; `block` null: nothing is carved. @param with_product  Whether products are stored.
inline std::size_t carve_contend_dense(std::byte* block, const ContendView& problem, std::int32_t rows, std::int32_t limbs,
                                       bool with_product, ContendDense& dense) {
  BumpAllocator allocator{block};
  dense.links = (problem.n_links + 15) / 16 * 16;
  dense.jobs = (problem.n_jobs + 3) / 4 * 4;
  dense.rows = rows;
  dense.limbs = limbs;
  dense.right = allocator.take<std::int8_t>(std::int64_t{dense.jobs} * dense.links);
  dense.left = allocator.take<std::int8_t>(std::int64_t{limbs} * rows * dense.links);
  dense.product = with_product ? allocator.take<std::int32_t>(std::int64_t{limbs} * rows * dense.jobs) : nullptr;
  return allocator.used;
}

/// Element body, one of `n_jobs`, into zeros.
struct ContendRightBody {
  ContendView problem;
  ContendDense dense;

  BERTH_HD void operator()(std::int64_t job) const {
    for (std::int32_t at = problem.job_begin[job]; at < problem.job_begin[job + 1]; ++at)
      dense.right[job * dense.links + problem.job_link[at]] = static_cast<std::int8_t>(pair_use(problem.job_use[at]));
  }
};

/// Element body, one of the candidates, into zeros.
struct ContendLeftBody {
  ContendView problem;
  ContendRequest request;
  ContendDense dense;

  BERTH_HD void operator()(std::int64_t row) const {
    for (std::int32_t at = request.begin[row]; at < request.begin[row + 1]; ++at) {
      std::int32_t use = candidate_use(problem, request, at);
      for (std::int64_t limb = dense.limbs - 1; limb >= 0; --limb, use >>= kLimbBits)
        dense.left[(limb * dense.rows + row) * dense.links + request.link[at]] = static_cast<std::int8_t>(use & kMostLimb);
    }
  }
};

/// The product of two rows of bytes.
BERTH_HD inline std::int32_t product_of_rows(const std::int8_t* left, const std::int8_t* right, std::int32_t links) {
  std::int32_t sum = 0;
  for (std::int32_t l = 0; l < links; l += 4) sum = BERTH_DOT4(left + l, right + l, sum);
  return sum;
}

/// Group body: products of a candidate with the jobs of a tile. Each thread reads its own only.
template <class Group>
BERTH_HD void contend_add_dense(Group& group, const ContendDense& dense, std::int32_t candidate, std::int32_t first_job, std::int32_t jobs,
                                std::int32_t* sums) {
  for (std::int32_t i = group.rank(); i < jobs; i += group.size()) {
    const std::int64_t job = first_job + i;
    std::int32_t sum = 0;
    for (std::int64_t limb = 0; limb < dense.limbs; ++limb) {
      const std::int64_t row = limb * dense.rows + candidate;
      sum = (sum << kLimbBits) + (dense.product != nullptr
                                      ? dense.product[row * dense.jobs + job]
                                      : product_of_rows(dense.left + row * dense.links, dense.right + job * dense.links, dense.links));
    }
    sums[i] = sum;
  }
}

/// contend_pairs by all pairs.
template <class Group>
BERTH_HD void contend_dense(Group& group, const ContendView& problem, const ContendDense& dense, std::int32_t tile_jobs,
                            const ContendRequest& request, std::int32_t candidate, const ContendWorkspace& ws,
                            const ContendResult& result) {
  contend_pairs(group, problem, tile_jobs, request, candidate, ws, result, [&](std::int32_t tile, std::int32_t* sums) {
    const std::int32_t first = tile * tile_jobs, rest = problem.n_jobs - first;
    contend_add_dense(group, dense, candidate, first, rest < tile_jobs ? rest : tile_jobs, sums);
  });
}

}  // namespace berth::kernel
