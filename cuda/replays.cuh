#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <unordered_set>
#include <vector>

#include "cuda/check.hpp"
#include "cuda/chunks.hpp"
#include "cuda/device_columns.cuh"
#include "cuda/tuning.hpp"

namespace berth::cuda {

/// One replay as its warp sees it; all addresses are on the device.
template <class Op>
struct ReplayArguments {
  typename Op::Request request;
  typename Op::Workspace workspace;
  typename Op::Result result;
};

/// Replays of a trace on one device, one warp each. Keeps its memory between calls.
///
/// `Op` names the columns and the task of an operation, says how large its workspace is, and launches its kernel.
template <class Op>
class Replays {
 public:
  using View = typename Op::View;
  using Request = typename Op::Request;
  using Result = typename Op::Result;
  using Task = typename Op::Task;

  /// Runs all tasks and returns when their results are on the host.
  /// It runs them in chunks when device memory is too small for all at once. Chunks never change an answer.
  /// Columns that several tasks share are sent once per chunk.
  void run(const View& problem, std::span<const Task> tasks, const Tuning& tuning, const Stream& stream) {
    host_ = &problem;
    counted_.clear();
    const std::size_t own =
        workspace_.capacity() + results_.capacity() + arguments_.capacity() * sizeof(ReplayArguments<Op>) + inputs_.bytes();
    in_chunks(
        tasks, own, kMostPinned, tuning, [&](const Task& task) { return size_of(task); },
        [&](std::span<const Task> some, const Sizes& sizes) { run_chunk(some, sizes, stream); });
  }

 private:
  /// Memory that a chunk needs.
  struct Sizes {
    std::size_t tasks = 0, results = 0, workspace = 0, inputs = 0;
    Sizes& operator+=(const Sizes& more) {
      tasks += more.tasks;
      results += more.results;
      workspace += more.workspace;
      inputs += more.inputs;
      return *this;
    }
    std::size_t bytes() const { return workspace + inputs + results + tasks * sizeof(ReplayArguments<Op>); }
    std::size_t pinned() const { return inputs + results + tasks * sizeof(ReplayArguments<Op>); }
  };

  static std::size_t round_up(std::size_t bytes) {
    constexpr std::size_t kAlign = 256;
    return (bytes + kAlign - 1) / kAlign * kAlign;
  }

  /// Allocates the result columns that a task asks for; returns the bytes in use after it.
  static std::size_t carve_result(kernel::BumpAllocator& c, const View& problem, const Result& wanted, Result& result) {
    const auto take = [&](std::int64_t n, const auto* want, auto*& column) {
      column = want == nullptr ? nullptr : c.take<kernel::ElementOf<decltype(column)>>(n);
    };
    for_each_column(problem, take, wanted, result);
    return c.used = round_up(c.used);
  }

  // A column that several tasks share counts for the first of them.
  Sizes size_of(const Task& task) {
    typename Op::Workspace workspace{};
    Result result{};
    kernel::BumpAllocator counter{nullptr};
    Sizes sizes{1, carve_result(counter, *host_, task.result, result), round_up(Op::carve(nullptr, *host_, *task.request, workspace)), 0};
    const auto count = [&](std::int64_t n, const auto* column) {
      if (column != nullptr && counted_.insert(column).second) sizes.inputs += round_up(static_cast<std::size_t>(n) * sizeof(*column));
    };
    for_each_column(*host_, *task.request, count, *task.request);
    return sizes;
  }

  void run_chunk(std::span<const Task> tasks, const Sizes& sizes, const Stream& stream) {
    const View problem = upload(tasks, sizes, stream);
    Op::launch(static_cast<unsigned>(tasks.size()), problem, arguments_.data(), stream);
    download(tasks, sizes, stream);
  }

  View upload(std::span<const Task> tasks, const Sizes& sizes, const Stream& stream) {
    workspace_.reserve(sizes.workspace, "reserve the workspace of replays");
    results_.reserve(sizes.results, "reserve the results of replays");
    arguments_.reserve(sizes.tasks, "reserve replays");
    host_arguments_.reserve(sizes.tasks, "reserve replays");
    inputs_.clear();
    places_.clear();
    const auto add = inputs_.adding(places_);
    for_each_column(*host_, add, *host_);
    for (const Task& task : tasks) for_each_column(*host_, *task.request, add, *task.request);
    inputs_.upload(stream.get());

    kernel::BumpAllocator results{results_.data()};
    std::byte* workspace = workspace_.data();
    const std::size_t* place = places_.data();
    const auto put = inputs_.placing(place);
    View problem = *host_;
    for_each_column(*host_, put, problem);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const Request& request = *tasks[i].request;
      ReplayArguments<Op>& one = host_arguments_.data()[i];
      one.request = request;
      for_each_column(*host_, request, put, one.request);
      carve_result(results, *host_, tasks[i].result, one.result);
      workspace += round_up(Op::carve(workspace, *host_, request, one.workspace));
    }
    check(cudaMemcpyAsync(arguments_.data(), host_arguments_.data(), tasks.size() * sizeof(ReplayArguments<Op>), cudaMemcpyHostToDevice,
                          stream.get()),
          "upload replays");
    return problem;
  }

  void download(std::span<const Task> tasks, const Sizes& sizes, const Stream& stream) {
    host_results_.reserve(sizes.results, "reserve host memory for results");
    check(cudaMemcpyAsync(host_results_.data(), results_.data(), sizes.results, cudaMemcpyDeviceToHost, stream.get()), "download results");
    stream.wait("replay a trace");
    kernel::BumpAllocator results{host_results_.data()};
    const auto copy = [](std::int64_t n, const auto* from, auto* to) {
      if (n > 0 && to != nullptr) std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(*to));
    };
    for (const Task& task : tasks) {
      Result here{};
      carve_result(results, *host_, task.result, here);
      for_each_column(*host_, copy, here, task.result);
    }
  }

  const View* host_ = nullptr;
  std::unordered_set<const void*> counted_;  // columns of requests
  ColumnPack inputs_;
  std::vector<std::size_t> places_;  // in the pack
  PinnedBuffer<ReplayArguments<Op>> host_arguments_;
  DeviceBuffer<ReplayArguments<Op>> arguments_;
  DeviceBuffer<std::byte> workspace_, results_;
  PinnedBuffer<std::byte> host_results_;
};

}  // namespace berth::cuda
