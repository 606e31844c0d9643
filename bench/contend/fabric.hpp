#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "bench/defaults.hpp"
#include "berth/kernel/contend/columns.hpp"

/// Links, running jobs and as many candidates, drawn evenly: the worst case for caches.
namespace berth::bench {

struct Rows {
  std::vector<std::int32_t> begin{0}, link;
  std::vector<std::uint16_t> use;

  std::int32_t n() const { return static_cast<std::int32_t>(begin.size()) - 1; }
  /// Rows of `least` to `most` different links, each used up to a quarter of the time.
  void draw(std::mt19937_64& random, std::int32_t links, std::int32_t rows, std::int32_t least, std::int32_t most) {
    const auto below = [&](std::int32_t limit) { return static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(limit)); };
    std::vector<std::int32_t> all(static_cast<std::size_t>(links));
    for (std::size_t l = 0; l < all.size(); ++l) all[l] = static_cast<std::int32_t>(l);
    for (std::int32_t i = 0; i < rows; ++i) {
      const std::int32_t length = std::min(links, least + below(most - least + 1));
      for (std::int32_t l = 0; l < length; ++l)
        std::swap(all[static_cast<std::size_t>(l)], all[static_cast<std::size_t>(l + below(links - l))]);
      const auto first = link.insert(link.end(), all.begin(), all.begin() + length);
      std::sort(first, link.end());
      for (std::int32_t l = 0; l < length; ++l) use.push_back(static_cast<std::uint16_t>(64 + below(kernel::kUseOne / 4)));
      begin.push_back(static_cast<std::int32_t>(link.size()));
    }
  }
};

struct Fabric {
  Fabric(std::int32_t n_links, std::int32_t n_jobs, std::int32_t least, std::int32_t most) : links(n_links) {
    std::mt19937_64 random(kSeed);
    jobs.draw(random, links, n_jobs, least, most);
    candidates.draw(random, links, n_jobs, least, most);
    load.assign(static_cast<std::size_t>(links), 0);
    for (std::size_t i = 0; i < jobs.link.size(); ++i) load[static_cast<std::size_t>(jobs.link[i])] += jobs.use[i];
  }
  kernel::ContendView view() const {
    return {links, jobs.n(), nullptr, load.data(), nullptr, jobs.begin.data(), jobs.link.data(), jobs.use.data(), nullptr};
  }
  kernel::ContendRequest request(std::int32_t k, kernel::ContendMethod method) const {
    return {candidates.n(), k, 1, method, candidates.begin.data(), candidates.link.data(), candidates.use.data(), nullptr};
  }

  std::int32_t links;
  Rows jobs, candidates;
  std::vector<std::int64_t> load;
};

/// 16 to 64 of 4,096 links a job.
inline const Fabric& spine_fabric() {
  static const Fabric fabric(static_cast<std::int32_t>(full_or_smoke(4'096, 64)), static_cast<std::int32_t>(contend_jobs()), 16, 64);
  return fabric;
}

/// 8 to 32 of 512 links above hosts.
inline const Fabric& rack_fabric() {
  static const Fabric fabric(kernel::kMostDenseLinks, static_cast<std::int32_t>(contend_jobs()), 8, 32);
  return fabric;
}

}  // namespace berth::bench
