#include "cuda/score.cuh"

#include "berth/kernel/score/columns.hpp"
#include "berth/kernel/score/score.hpp"
#include "cuda/block_group.cuh"
#include "cuda/launch.cuh"

namespace berth::cuda {
namespace {

/// One block per demand.
template <int kMost, bool kThreshold>
__global__ void __launch_bounds__(kScoreThreads)
    score_kernel(const __grid_constant__ kernel::ScoreTableView table, kernel::BestPlace* best) {
  __shared__ BlockGroup::Shared shared;
  BlockGroup group(shared);
  const auto demand = static_cast<std::int32_t>(blockIdx.x);
  kernel::best_places<kMost, kThreshold>(group, table, demand, best + static_cast<std::int64_t>(demand) * table.k);
}

struct Launch {
  const kernel::ScoreTableView& table;
  cudaStream_t stream;
  kernel::BestPlace* best;

  template <int kMost, bool kThreshold>
  void run() const {
    launch(score_kernel<kMost, kThreshold>, static_cast<unsigned>(table.n_demands), kScoreThreads, 0, stream)(table, best);
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

void Scorer::run(const kernel::ScoreTableView& table, const Stream& stream, kernel::BestPlace* best) {
  if (table.n_demands == 0) return;
  const kernel::ScoreTableView device = upload(table, stream.get());
  const std::size_t n = static_cast<std::size_t>(table.n_demands) * static_cast<std::size_t>(table.k);
  best_.reserve(n, "reserve the best places");
  kernel::with_score_variant(device, Launch{device, stream.get(), best_.data()});
  check(cudaMemcpyAsync(best, best_.data(), n * sizeof(kernel::BestPlace), cudaMemcpyDeviceToHost, stream.get()),
        "download the best places");
  stream.wait("score candidates");
}

}  // namespace berth::cuda
