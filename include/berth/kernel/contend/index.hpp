#pragma once

#include <cstdint>
#include <initializer_list>

#include "berth/kernel/base/bump_allocator.hpp"
#include "berth/kernel/base/host_device.hpp"
#include "berth/kernel/contend/columns.hpp"
#include "berth/kernel/contend/quantise.hpp"

/// Running jobs by link, for a device: element bodies around a stable sort of entries by key.
namespace berth::kernel {

/// Jobs come in tiles of `tile_jobs`, whose sums a group holds. A *column* is a link's entries in one tile, by job.
struct ContendIndex {
  std::int32_t n_tiles, tile_jobs, entries;
  std::int64_t* key;           // [entries] tile x links + link
  std::int64_t* sorted_key;    // [entries]
  std::int32_t* entry;         // [entries] 0, 1, ...
  std::int32_t* sorted_entry;  // [entries]
  std::int32_t* entry_job;     // [entries]
  std::int32_t* begin;         // [n_tiles * n_links + 1] sorted entries of the columns before
  std::int32_t* item;          // [entries] sorted: place of the job in its tile, and its use in the lowest 8 bits
  std::int64_t* load;          // [n_links] sum of uses
  std::int64_t* weighted;      // [n_links] sum of use in a product x weight of the job
};

/// Bytes of an index; `block` null: nothing is carved.
inline std::size_t carve_contend_index(std::byte* block, const ContendView& problem, std::int32_t entries, std::int32_t tile_jobs,
                                       ContendIndex& index) {
  BumpAllocator allocator{block};
  index.tile_jobs = tile_jobs;
  index.n_tiles = (problem.n_jobs + tile_jobs - 1) / tile_jobs;
  index.entries = entries;
  for (std::int64_t** const column : {&index.key, &index.sorted_key}) *column = allocator.take<std::int64_t>(entries);
  for (std::int32_t** const column : {&index.entry, &index.sorted_entry, &index.entry_job, &index.item})
    *column = allocator.take<std::int32_t>(entries);
  index.begin = allocator.take<std::int32_t>(std::int64_t{index.n_tiles} * problem.n_links + 1);
  for (std::int64_t** const column : {&index.load, &index.weighted}) *column = allocator.take<std::int64_t>(problem.n_links);
  return allocator.used;
}

/// Element body, one of `n_jobs`: keys of the job's entries.
struct ContendKeyBody {
  ContendView problem;
  ContendIndex index;

  BERTH_HD void operator()(std::int64_t job) const {
    for (std::int32_t at = problem.job_begin[job]; at < problem.job_begin[job + 1]; ++at) {
      index.key[at] = job / index.tile_jobs * problem.n_links + problem.job_link[at];
      index.entry[at] = at;
      index.entry_job[at] = static_cast<std::int32_t>(job);
    }
  }
};

/// Element body, one of `entries`, after the sort.
struct ContendItemBody {
  ContendView problem;
  ContendIndex index;

  BERTH_HD void operator()(std::int64_t i) const {
    const std::int32_t at = index.sorted_entry[i];
    index.item[i] = index.entry_job[at] % index.tile_jobs << 8 | pair_use(problem.job_use[at]);
  }
};

/// Element body, one of `n_tiles * n_links + 1`, after the sort: the first entry whose key is not smaller.
struct ContendBeginBody {
  ContendIndex index;

  BERTH_HD void operator()(std::int64_t key) const {
    std::int32_t low = 0, high = index.entries;
    while (low < high) {
      const std::int32_t middle = low + (high - low) / 2;
      if (index.sorted_key[middle] < key) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    index.begin[key] = low;
  }
};

/// Element body, one of `n_links`, after those above.
struct ContendLinkBody {
  ContendView problem;
  ContendIndex index;

  BERTH_HD void operator()(std::int64_t link) const {
    std::int64_t load = 0, weighted = 0;
    for (std::int32_t tile = 0; tile < index.n_tiles; ++tile) {
      const std::int32_t* const begin = index.begin + std::int64_t{tile} * problem.n_links + link;
      for (std::int32_t i = begin[0]; i < begin[1]; ++i) {
        const std::int32_t at = index.sorted_entry[i];
        const std::int64_t weight = problem.job_weight == nullptr ? 1 : problem.job_weight[index.entry_job[at]];
        load += problem.job_use[at];
        weighted += weight * pair_use(problem.job_use[at]);
      }
    }
    index.load[link] = load;
    index.weighted[link] = weighted;
  }
};

}  // namespace berth::kernel
