#include "cuda/score.cuh"

#include "berth/kernel/score/columns.hpp"
#include "berth/kernel/score/score.hpp"
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

kernel::ScoreTableView Scorer::upload(const kernel::ScoreTableView& table, cudaStream_t stream) {
  kernel::ScoreTableView v = table;
  std::size_t next = 0;
  const auto follow = [&](std::int64_t n, auto*& column) {
    FollowedColumn& mine = columns_.at(next++);
    if (column == nullptr) return;
    mine.follow(column, static_cast<std::size_t>(n) * sizeof(*column), stream);
    column = static_cast<kernel::ElementOf<decltype(column)>*>(mine.device());
  };
  kernel::for_each_column(table, follow, v);
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
