#include "cuda/mirror.cuh"

namespace berth::cuda {

DeviceProblem Mirror::follow(const kernel::ProblemView& problem, cudaStream_t stream) {
  std::size_t next = 0;
  sent_ = 0;
  kernel::ProblemView v = problem;
  const auto follow = [&](std::int64_t n, auto*& column) {
    FollowedColumn& mine = columns_.at(next++);
    if (column == nullptr) return;
    mine.follow(column, static_cast<std::size_t>(n) * sizeof(*column), stream);
    sent_ += mine.sent();
    column = static_cast<kernel::ElementOf<decltype(column)>*>(mine.device());  // the device's address for the host's
  };
  kernel::for_each_column(problem, follow, v);
  return DeviceProblem{v};
}

}  // namespace berth::cuda
