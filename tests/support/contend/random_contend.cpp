#include "tests/support/contend/random_contend.hpp"

#include <algorithm>
#include <cstring>
#include <ostream>
#include <tuple>

#include "berth/kernel/base/to_index.hpp"
#include "tests/support/random.hpp"

namespace berth::test {
namespace {

template <class T>
const T* or_null(const std::vector<T>& column) {
  return column.empty() ? nullptr : column.data();
}

/// Rows of jobs or candidates: few links or many, equal uses or all kinds, now and then none.
struct RandomRows {
  Random& random;
  std::int32_t links, row;
  std::vector<std::int32_t> kinds;  // of uses

  void draw(std::vector<std::int32_t>& of, std::vector<std::uint16_t>& uses) const {
    of.clear();
    uses.clear();
    if (links == 0 || random.percent(10)) return;
    const std::int32_t n = random.within(1, std::min(row, links));
    for (std::int32_t i = 0; i < n; ++i) of.push_back(random.below(links));
    std::sort(of.begin(), of.end());
    of.erase(std::unique(of.begin(), of.end()), of.end());
    for (std::size_t i = 0; i < of.size(); ++i) uses.push_back(static_cast<std::uint16_t>(random.of(kinds)));
  }
};

}  // namespace

ContendCase::ContendCase(std::uint64_t seed, const RandomContendSpec& spec) : links(spec.links) {
  Random random(seed);
  std::vector<std::int32_t> kinds;
  const std::int32_t most_kinds = random.of<std::int32_t>({1, 2, 40});
  for (std::int32_t i = 0; i < most_kinds; ++i) {
    const std::int32_t small = random.below(400), usual = random.below(9'000), large = random.below(kernel::kMostUse + 1);
    kinds.push_back(random.of<std::int32_t>({0, small, usual, usual, large, kernel::kMostUse}));
  }
  const RandomRows rows{random, links, spec.row, kinds};
  std::vector<std::int32_t> of;
  std::vector<std::uint16_t> uses;
  for (std::int32_t j = 0; j < spec.jobs; ++j) {
    rows.draw(of, uses);
    add_job(of, uses);
  }
  for (std::int32_t i = 0; i < spec.candidates; ++i) {
    rows.draw(of, uses);
    add_candidate(of, uses);
  }
  const bool capacities = random.percent(60), loads = random.percent(40), weights = random.percent(60);
  const bool job_weights = random.percent(60), exclusions = random.percent(60);
  for (std::int32_t l = 0; l < links; ++l) {
    const std::int32_t some = random.below(3 * kernel::kUseOne), more = random.below(1 << 30), part = random.below(kernel::kUseOne + 1);
    const std::int32_t kind = random.below(4);
    if (capacities) capacity.push_back(kind == 0 ? 0 : kind == 1 ? kernel::kUseOne : some);
    if (loads) load.push_back(more);
    if (weights) weight.push_back(kind == 0 ? 0 : kind == 1 ? kernel::kUseOne : part);
  }
  for (std::int32_t j = 0; j < spec.jobs; ++j) {
    const std::int32_t gpus = random.of<std::int32_t>({0, 1, 8, 1'024});
    if (job_weights) job_weight.push_back(gpus);
  }
  for (std::int32_t i = 0; i < spec.candidates; ++i) {
    const std::int32_t job = spec.jobs == 0 ? -1 : random.below(spec.jobs);
    if (exclusions) excluded.push_back(random.percent(70) ? job : -1);
  }
  k = random.of<std::int32_t>({0, 1, 3, 8, kernel::kMostContendTop});
  limbs = random.within(1, 2);
  method = random.of<kernel::ContendMethod>({kernel::ContendMethod::kAuto, kernel::ContendMethod::kSparse, kernel::ContendMethod::kDense});
}

void ContendCase::add_job(const std::vector<std::int32_t>& of, const std::vector<std::uint16_t>& uses) {
  job_link.insert(job_link.end(), of.begin(), of.end());
  job_use.insert(job_use.end(), uses.begin(), uses.end());
  job_begin.push_back(static_cast<std::int32_t>(job_link.size()));
}

void ContendCase::add_candidate(const std::vector<std::int32_t>& of, const std::vector<std::uint16_t>& uses) {
  link.insert(link.end(), of.begin(), of.end());
  use.insert(use.end(), uses.begin(), uses.end());
  begin.push_back(static_cast<std::int32_t>(link.size()));
}

kernel::ContendView ContendCase::view() const {
  return {links,           jobs(),         or_null(capacity),  or_null(load), or_null(weight), job_begin.data(),
          job_link.data(), job_use.data(), or_null(job_weight)};
}

kernel::ContendRequest ContendCase::request() const {
  return {candidates(), k, limbs, method, begin.data(), link.data(), use.data(), or_null(excluded)};
}

ContendBuffers::ContendBuffers(const ContendCase& one) {
  const std::size_t n = to_index(one.candidates()), top = n * to_index(one.k);
  load.assign(to_index(one.links), -7);
  for (auto* column : {&load_sum, &load_max, &overload, &pair_sum}) column->assign(n, -7);
  failed.assign(n, -7);
  for (auto* column : {&top_value, &top_job}) column->assign(top, -7);
  pair_value.assign(n * to_index(one.jobs()), -7);
}

kernel::ContendResult ContendBuffers::view() {
  return {load.data(),      load_sum.data(), load_max.data(), overload.data(),  failed.data(),
          top_value.data(), top_job.data(),  pair_sum.data(), pair_value.data()};
}

bool operator==(const ContendBuffers& a, const ContendBuffers& b) {
  const auto columns = [](const ContendBuffers& r) {
    return std::tie(r.load, r.load_sum, r.load_max, r.overload, r.failed, r.top_value, r.top_job, r.pair_sum, r.pair_value);
  };
  return columns(a) == columns(b);
}

void PrintTo(const ContendBuffers& result, std::ostream* out) {
  const auto print = [&](const char* name, const auto& column) {
    *out << "\n  " << name << ":";
    for (std::size_t i = 0; i < std::min<std::size_t>(column.size(), 64); ++i) *out << " " << column[i];
  };
  print("load", result.load);
  print("load_sum", result.load_sum);
  print("load_max", result.load_max);
  print("overload", result.overload);
  print("failed", result.failed);
  print("top_value", result.top_value);
  print("top_job", result.top_job);
  print("pair_sum", result.pair_sum);
  print("pair_value", result.pair_value);
}

IndexedJobs::IndexedJobs(const ContendCase& one, std::int32_t tile_jobs) {
  const kernel::ContendView view = one.view();
  const auto entries = static_cast<std::int32_t>(one.job_link.size());
  memory.resize(kernel::carve_contend_index(nullptr, view, entries, tile_jobs, index) / sizeof(std::max_align_t) + 1);
  kernel::carve_contend_index(reinterpret_cast<std::byte*>(memory.data()), view, entries, tile_jobs, index);
  const auto for_each = [](std::int64_t n, const auto& body) {
    for (std::int64_t i = 0; i < n; ++i) body(i);
  };
  for_each(view.n_jobs, kernel::ContendKeyBody{view, index});
  std::copy_n(index.entry, entries, index.sorted_entry);
  std::stable_sort(index.sorted_entry, index.sorted_entry + entries,
                   [&](std::int32_t a, std::int32_t b) { return index.key[a] < index.key[b]; });
  for (std::int32_t i = 0; i < entries; ++i) index.sorted_key[i] = index.key[index.sorted_entry[i]];
  for_each(entries, kernel::ContendItemBody{view, index});
  for_each(std::int64_t{index.n_tiles} * view.n_links + 1, kernel::ContendBeginBody{index});
  for_each(view.n_links, kernel::ContendLinkBody{view, index});
}

DenseMatrices::DenseMatrices(const ContendCase& one, bool with_product) {
  const kernel::ContendView view = one.view();
  const kernel::ContendRequest request = one.request();
  const auto carve = [&](std::byte* block) {
    return kernel::carve_contend_dense(block, view, request.n, request.limbs, with_product, dense);
  };
  memory.resize(carve(nullptr) / sizeof(std::max_align_t) + 1);
  std::memset(memory.data(), 0, memory.size() * sizeof(std::max_align_t));  // also where its elements have padding
  carve(reinterpret_cast<std::byte*>(memory.data()));
  for (std::int32_t j = 0; j < view.n_jobs; ++j) kernel::ContendRightBody{view, dense}(j);
  for (std::int32_t i = 0; i < request.n; ++i) kernel::ContendLeftBody{view, request, dense}(i);
  if (!with_product) return;
  for (std::int64_t row = 0; row < std::int64_t{dense.limbs} * dense.rows; ++row) {
    for (std::int64_t j = 0; j < dense.jobs; ++j)
      dense.product[row * dense.jobs + j] =
          kernel::product_of_rows(dense.left + row * dense.links, dense.right + j * dense.links, dense.links);
  }
}

ContendBuffers contend(core::PlacementBackend& backend, const ContendCase& one) {
  ContendBuffers result(one);
  backend.contend(one.view(), one.request(), result.view());
  return result;
}

}  // namespace berth::test
