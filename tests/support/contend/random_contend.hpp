#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <vector>

#include "berth/kernel/contend/columns.hpp"
#include "berth/kernel/contend/dense.hpp"
#include "berth/kernel/contend/index.hpp"
#include "host/backend/backend.hpp"

/// Links, running jobs and candidates of random sizes, for tests of the operation `contend`.
namespace berth::test {

struct RandomContendSpec {
  std::int32_t links = 40, jobs = 30, candidates = 20;
  std::int32_t row = 12;  // links of a row, at most
};

/// Owns all columns of a problem and a request. An empty column is null, except for rows.
struct ContendCase {
  ContendCase() = default;
  ContendCase(std::uint64_t seed, const RandomContendSpec& spec);
  void add_job(const std::vector<std::int32_t>& links, const std::vector<std::uint16_t>& uses);
  void add_candidate(const std::vector<std::int32_t>& links, const std::vector<std::uint16_t>& uses);

  kernel::ContendView view() const;
  kernel::ContendRequest request() const;
  std::int32_t jobs() const { return static_cast<std::int32_t>(job_begin.size()) - 1; }
  std::int32_t candidates() const { return static_cast<std::int32_t>(begin.size()) - 1; }

  std::int32_t links = 0, k = 3, limbs = 1;
  kernel::ContendMethod method = kernel::ContendMethod::kAuto;
  std::vector<std::int64_t> capacity, load;
  std::vector<std::int32_t> weight, job_begin{0}, job_link, job_weight, begin{0}, link, excluded;
  std::vector<std::uint16_t> job_use, use;
};

/// Owns the output columns. They start with invalid values, so that a column that a backend does not write is noticed.
struct ContendBuffers {
  explicit ContendBuffers(const ContendCase& one);
  kernel::ContendResult view();

  std::vector<std::int64_t> load, load_sum, load_max, overload, pair_sum;
  std::vector<std::int32_t> failed, top_value, top_job, pair_value;
};
bool operator==(const ContendBuffers& a, const ContendBuffers& b);
void PrintTo(const ContendBuffers& result, std::ostream* out);

/// The running jobs of a case by link, as a device has them.
struct IndexedJobs {
  IndexedJobs(const ContendCase& one, std::int32_t tile_jobs);

  std::vector<std::max_align_t> memory;
  kernel::ContendIndex index{};
};

/// Its matrices of bytes, and with `with_product` their product, as a device has them.
struct DenseMatrices {
  DenseMatrices(const ContendCase& one, bool with_product);

  std::vector<std::max_align_t> memory;
  kernel::ContendDense dense{};
};

/// All columns of a case on a backend.
ContendBuffers contend(core::PlacementBackend& backend, const ContendCase& one);

}  // namespace berth::test
