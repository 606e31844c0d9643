#include "cuda/score.cuh"

#include "berth/kernel/score.hpp"
#include "berth/kernel/score_body.hpp"
#include "cuda/block_group.cuh"
#include "cuda/for_each.cuh"

namespace berth::cuda {
namespace {

/// One block per ask.
template <int kMost, bool kThreshold>
__global__ void __launch_bounds__(kScoreThreads) score_kernel(const __grid_constant__ kernel::ScoreTableView table, kernel::AskBest* best) {
  __shared__ BlockGroup::Shared shared;
  BlockGroup group(shared);
  const auto ask = static_cast<std::int32_t>(blockIdx.x);
  kernel::best_places<kMost, kThreshold>(group, table, ask, best + static_cast<std::int64_t>(ask) * table.k);
}

struct Launch {
  const kernel::ScoreTableView& table;
  cudaStream_t stream;
  kernel::AskBest* best;

  template <int kMost, bool kThreshold>
  void run() const {
    score_kernel<kMost, kThreshold><<<static_cast<unsigned>(table.n_asks), kScoreThreads, 0, stream>>>(table, best);
    check_launch(stream, "launch score_kernel");
  }
};

}  // namespace

// A column that upload does not know would reach the device as a host address.
static_assert(sizeof(kernel::ScoreTableView) == 176, "ScoreTableView changed: upload its new columns, then change this number");

kernel::ScoreTableView Scorer::upload(const kernel::ScoreTableView& table, cudaStream_t stream) {
  kernel::ScoreTableView v = table;
  std::size_t next = 0;
  const auto follow = [&](auto*& column, std::int64_t n) {
    FollowedColumn& mine = columns_.at(next++);
    if (column == nullptr) return;
    mine.follow(column, static_cast<std::size_t>(n) * sizeof(*column), stream);
    column = static_cast<std::remove_reference_t<decltype(column)>>(mine.device());
  };
  const kernel::KindView& kinds = table.kinds;
  follow(v.kinds.free, kinds.n);
  follow(v.kinds.cpu, kinds.n);
  follow(v.kinds.memory, kinds.n);
  follow(v.kinds.until, kinds.n);
  follow(v.kinds.filter, std::int64_t{kinds.n_filters} * kinds.n_words);
  follow(v.kinds.room_begin, kinds.n + 1);
  follow(v.kinds.room_ppm, kinds.room_begin[kinds.n]);
  follow(v.kinds.room_memory, kinds.room_begin[kinds.n]);
  const kernel::PlaceView& places = table.places;
  const std::int64_t all_cells = std::int64_t{places.n_parts} * (places.n + 1);
  const std::int64_t cells = all_cells == 0 ? 0 : places.cell_begin[all_cells - 1];
  follow(v.places.cost, places.n);
  follow(v.places.cell_begin, all_cells);
  follow(v.places.item_begin, all_cells == 0 ? 0 : cells + 1);
  follow(v.places.items, all_cells == 0 ? 0 : places.item_begin[cells]);
  follow(v.rows, table.n_rows);
  follow(v.asks, table.n_asks);
  return v;
}

void Scorer::run(const kernel::ScoreTableView& table, const Stream& stream, kernel::AskBest* best) {
  if (table.n_asks == 0) return;
  const kernel::ScoreTableView device = upload(table, stream.get());
  const std::size_t n = static_cast<std::size_t>(table.n_asks) * static_cast<std::size_t>(table.k);
  best_.reserve(n, "reserve the best places");
  kernel::with_score_variant(device, Launch{device, stream.get(), best_.data()});
  check(cudaMemcpyAsync(best, best_.data(), n * sizeof(kernel::AskBest), cudaMemcpyDeviceToHost, stream.get()), "download the best places");
  stream.wait("score candidates");
}

}  // namespace berth::cuda
