#include "cuda/choose.cuh"

#include <algorithm>
#include <cstring>

#include "berth/kernel/price.hpp"
#include "cuda/block_group.cuh"
#include "cuda/chunks.hpp"
#include "cuda/for_each.cuh"

namespace berth::cuda {
namespace {

constexpr std::size_t kAlign = 256;
constexpr std::size_t kColumns = 6;  // capacity, option_begin, type, gpus, value, prices

std::size_t round_up(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

constexpr int kMostThreads = 512;  // bounds registers; every block size up to it runs the same code

/// One block per choice.
__global__ void __launch_bounds__(kMostThreads) choose_kernel(const ChooseSlot* slots) {
  __shared__ BlockGroup::Shared shared;
  BlockGroup group(shared);
  const ChooseSlot slot = slots[blockIdx.x];
  kernel::choose_by_price(group, slot.problem, slot.request, slot.workspace, slot.result);
}

/// Result columns of a chunk in one piece of memory, the widest first.
struct ResultColumns {
  std::int64_t *value, *bound;         // [tasks]
  std::int64_t *price, *used;          // [types of all tasks]
  std::int32_t *evaluations, *option;  // [tasks], [jobs of all tasks]

  ResultColumns(std::byte* at, std::size_t tasks, std::size_t types) {
    value = reinterpret_cast<std::int64_t*>(at);
    bound = value + tasks;
    price = bound + tasks;
    used = price + types;
    evaluations = reinterpret_cast<std::int32_t*>(used + types);
    option = evaluations + tasks;
  }
  static std::size_t bytes(std::size_t tasks, std::size_t types, std::size_t jobs) {
    return (2 * tasks + 2 * types) * sizeof(std::int64_t) + (tasks + jobs) * sizeof(std::int32_t);
  }
};

std::size_t n_options(const kernel::ChoiceView& c) { return static_cast<std::size_t>(c.option_begin[c.n_jobs]); }

}  // namespace

// A column that upload does not know would reach the device as a host address.
static_assert(sizeof(kernel::ChoiceView) == 48, "ChoiceView changed: upload its new columns, then change this number");
static_assert(sizeof(kernel::ChoiceRequest) == 24, "ChoiceRequest changed: upload its new columns, then change this number");
static_assert(sizeof(kernel::ChoiceResult) == 48, "ChoiceResult changed: download its new columns, then change this number");

Chooser::Sizes& Chooser::Sizes::operator+=(const Sizes& more) {
  tasks += more.tasks;
  types += more.types;
  jobs += more.jobs;
  workspace += more.workspace;
  inputs += more.inputs;
  return *this;
}

std::size_t Chooser::Sizes::bytes() const {
  return workspace + inputs + ResultColumns::bytes(tasks, types, jobs) + tasks * sizeof(ChooseSlot);
}

Chooser::Sizes Chooser::size_of(const cuda_abi::ChooseTask& task) {
  const kernel::ChoiceView& c = *task.problem;
  const auto types = static_cast<std::size_t>(c.n_types), jobs = static_cast<std::size_t>(c.n_jobs);
  kernel::PriceWorkspace unused{};
  return Sizes{1, types, jobs, round_up(kernel::carve_price_workspace(nullptr, c.n_jobs, c.n_types, unused)),
               kColumns * kAlign + 2 * types * sizeof(std::int64_t) + (jobs + 1) * sizeof(std::int32_t) +
                   n_options(c) * (2 * sizeof(std::int32_t) + sizeof(std::int64_t))};
}

void Chooser::run(std::span<const cuda_abi::ChooseTask> tasks, const Tuning& tuning, const Stream& stream) {
  const std::size_t own = workspace_.capacity() + results_.capacity() + slots_.capacity() * sizeof(ChooseSlot) + inputs_.bytes();
  in_chunks(
      tasks, own, tuning, [](const cuda_abi::ChooseTask& task) { return size_of(task); },
      [&](std::span<const cuda_abi::ChooseTask> some, const Sizes& sizes) { run_chunk(some, sizes, tuning, stream); });
}

void Chooser::run_chunk(std::span<const cuda_abi::ChooseTask> tasks, const Sizes& sizes, const Tuning& tuning, const Stream& stream) {
  upload(tasks, sizes, stream);
  const int threads = std::min(tasks.size() == 1 ? tuning.one_threads : tuning.batch_threads, kMostThreads);
  choose_kernel<<<static_cast<unsigned>(tasks.size()), threads, 0, stream.get()>>>(slots_.data());
  check_launch(stream.get(), "launch choose_kernel");
  download(tasks, sizes, stream);
}

void Chooser::upload(std::span<const cuda_abi::ChooseTask> tasks, const Sizes& sizes, const Stream& stream) {
  workspace_.reserve(sizes.workspace, "reserve the workspace of choices");
  results_.reserve(ResultColumns::bytes(sizes.tasks, sizes.types, sizes.jobs), "reserve the results of choices");
  slots_.reserve(sizes.tasks, "reserve choices");
  host_slots_.reserve(sizes.tasks, "reserve choices");
  inputs_.clear();
  places_.clear();
  for (const cuda_abi::ChooseTask& task : tasks) {
    const kernel::ChoiceView& c = *task.problem;
    const auto add = [&](const auto* column, std::size_t count) {
      places_.push_back(inputs_.add(column, column == nullptr ? 0 : count * sizeof(*column)));
    };
    add(c.capacity, static_cast<std::size_t>(c.n_types));
    add(c.option_begin, static_cast<std::size_t>(c.n_jobs) + 1);
    add(c.type, n_options(c));
    add(c.gpus, n_options(c));
    add(c.value, n_options(c));
    add(task.request->prices, static_cast<std::size_t>(c.n_types));
  }
  inputs_.upload(stream.get());

  ResultColumns columns(results_.data(), sizes.tasks, sizes.types);
  std::byte* workspace = workspace_.data();
  const std::size_t* place = places_.data();
  for (std::size_t i = 0; i < tasks.size(); ++i, place += kColumns) {
    const cuda_abi::ChooseTask& task = tasks[i];
    const Sizes one = size_of(task);
    ChooseSlot& slot = host_slots_.data()[i];
    slot.problem = *task.problem;
    slot.problem.capacity = inputs_.at<const std::int64_t>(place[0]);
    slot.problem.option_begin = inputs_.at<const std::int32_t>(place[1]);
    slot.problem.type = inputs_.at<const std::int32_t>(place[2]);
    slot.problem.gpus = inputs_.at<const std::int32_t>(place[3]);
    slot.problem.value = inputs_.at<const std::int64_t>(place[4]);
    slot.request = *task.request;
    if (task.request->prices != nullptr) slot.request.prices = inputs_.at<const std::int64_t>(place[5]);
    kernel::carve_price_workspace(workspace, task.problem->n_jobs, task.problem->n_types, slot.workspace);
    slot.result = {columns.option, columns.price, columns.used, columns.value + i, columns.bound + i, columns.evaluations + i};
    columns.option += one.jobs;
    columns.price += one.types;
    columns.used += one.types;
    workspace += one.workspace;
  }
  check(cudaMemcpyAsync(slots_.data(), host_slots_.data(), tasks.size() * sizeof(ChooseSlot), cudaMemcpyHostToDevice, stream.get()),
        "upload choices");
}

void Chooser::download(std::span<const cuda_abi::ChooseTask> tasks, const Sizes& sizes, const Stream& stream) {
  const std::size_t bytes = ResultColumns::bytes(sizes.tasks, sizes.types, sizes.jobs);
  host_results_.reserve(bytes, "reserve host memory for results");
  check(cudaMemcpyAsync(host_results_.data(), results_.data(), bytes, cudaMemcpyDeviceToHost, stream.get()), "download results");
  stream.wait("choose shapes");
  ResultColumns columns(host_results_.data(), sizes.tasks, sizes.types);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Sizes one = size_of(tasks[i]);
    const kernel::ChoiceResult& out = tasks[i].result;
    const auto copy = [](auto* to, auto*& from, std::size_t n) {
      if (n > 0) std::memcpy(to, from, n * sizeof(*to));
      from += n;
    };
    copy(out.option, columns.option, one.jobs);
    copy(out.price, columns.price, one.types);
    copy(out.used, columns.used, one.types);
    *out.value = columns.value[i];
    *out.bound = columns.bound[i];
    *out.evaluations = columns.evaluations[i];
  }
}

}  // namespace berth::cuda
