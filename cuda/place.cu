#include <algorithm>
#include <cstring>

#include "cuda/block_group.cuh"
#include "cuda/chunks.hpp"
#include "cuda/for_each.cuh"
#include "cuda/place.cuh"

namespace berth::cuda {
namespace {

constexpr std::size_t kAlign = 256;
constexpr std::size_t kColumns = 7;  // order, running, victim_ok, preemption_class, job_rank, option_run, releases; then taken

std::size_t round_up(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

constexpr int kMostThreads = 512;  // bounds registers; every block size up to it runs the same code

/// One block per walk.
__global__ void __launch_bounds__(kMostThreads) place_kernel(const __grid_constant__ kernel::ProblemView problem, const PlaceSlot* slots) {
  __shared__ BlockGroup::Shared shared;
  BlockGroup group(shared);
  const PlaceSlot slot = slots[blockIdx.x];
  kernel::place_in_order(group, problem, slot.request, slot.taken, slot.n_taken, slot.workspace, slot.result);
}

/// Packs the entries of all walks without gaps, one block per walk.
__global__ void __launch_bounds__(kForEachThreads)
    pack_entries_kernel(const PlaceSlot* slots, const std::int64_t* starts, kernel::PlacedRow* packed) {
  const std::int64_t start = starts[blockIdx.x];
  const auto n = static_cast<std::int32_t>(starts[blockIdx.x + 1] - start);
  const kernel::PlacedRow* entries = slots[blockIdx.x].result.entries;
  for (std::int32_t i = static_cast<std::int32_t>(threadIdx.x); i < n; i += kForEachThreads) packed[start + i] = entries[i];
}

/// Result columns of a chunk in one piece of memory, the widest first.
struct ResultColumns {
  TimeUs* reserve_at;                                                    // [walks]
  std::int32_t* n_entries;                                               // [walks]
  std::int32_t *outcome, *option, *entry_begin, *entry_end, *displaced;  // [positions]

  ResultColumns(std::byte* at, std::size_t walks, std::size_t positions) {
    reserve_at = reinterpret_cast<TimeUs*>(at);
    n_entries = reinterpret_cast<std::int32_t*>(reserve_at + walks);
    outcome = n_entries + walks;
    option = outcome + positions;
    entry_begin = option + positions;
    entry_end = entry_begin + positions;
    displaced = entry_end + positions;
  }
  static std::size_t bytes(std::size_t walks, std::size_t positions) {
    return walks * (sizeof(TimeUs) + sizeof(std::int32_t)) + positions * 5 * sizeof(std::int32_t);
  }
};

static_assert(sizeof(kernel::Outcome) == sizeof(std::int32_t), "outcomes travel as int32");

}  // namespace

// A column that upload does not know would reach the device as a host address.
static_assert(sizeof(kernel::PlaceRequest) == 104, "PlaceRequest changed: upload its new columns, then change this number");
static_assert(sizeof(kernel::PlaceResult) == 72, "PlaceResult changed: download its new columns, then change this number");

Placer::Sizes& Placer::Sizes::operator+=(const Sizes& more) {
  walks += more.walks;
  positions += more.positions;
  entries += more.entries;
  workspace += more.workspace;
  return *this;
}

std::size_t Placer::Sizes::bytes() const {
  // Entries count twice: as the walk writes them, and packed.
  return workspace + entries * 2 * sizeof(kernel::PlacedRow) + ResultColumns::bytes(walks, positions) + walks * (sizeof(PlaceSlot) + 8);
}

Placer::Sizes Placer::size_of(const kernel::ProblemView& problem, const cuda_abi::PlaceTask& task) {
  return Sizes{1, static_cast<std::size_t>(task.request->n), static_cast<std::size_t>(task.result.max_entries),
               round_up(static_cast<std::size_t>(kernel::place_workspace_bytes(problem, *task.request)))};
}

void Placer::run(const kernel::ProblemView& host, const DeviceProblem& device, std::span<const cuda_abi::PlaceTask> tasks,
                 const Tuning& tuning, const Stream& stream) {
  host_ = &host;
  device_ = &device;
  stream_ = &stream;
  const std::size_t own = workspace_.capacity() + columns_.capacity() + slots_.capacity() * sizeof(PlaceSlot) +
                          (entries_.capacity() + packed_.capacity()) * sizeof(kernel::PlacedRow);
  in_chunks(
      tasks, own, tuning, [&](const cuda_abi::PlaceTask& task) { return size_of(host, task); },
      [&](std::span<const cuda_abi::PlaceTask> some, const Sizes& sizes) { run_chunk(some, sizes, tuning); });
}

void Placer::run_chunk(std::span<const cuda_abi::PlaceTask> tasks, const Sizes& sizes, const Tuning& tuning) {
  upload(tasks, sizes);
  const int threads = std::min(tasks.size() == 1 ? tuning.one_threads : tuning.batch_threads, kMostThreads);
  place_kernel<<<static_cast<unsigned>(tasks.size()), threads, 0, stream_->get()>>>(device_->view, slots_.data());
  check_launch(stream_->get(), "launch place_kernel");
  download(tasks, sizes);
}

void Placer::upload(std::span<const cuda_abi::PlaceTask> tasks, const Sizes& sizes) {
  workspace_.reserve(sizes.workspace, "reserve the workspace of walks");
  entries_.reserve(sizes.entries, "reserve the entries of walks");
  columns_.reserve(ResultColumns::bytes(sizes.walks, sizes.positions), "reserve the results of walks");
  slots_.reserve(sizes.walks, "reserve walks");
  host_slots_.reserve(sizes.walks, "reserve walks");

  const std::size_t jobs = static_cast<std::size_t>(host_->n_jobs);
  const std::size_t options = static_cast<std::size_t>(host_->option_begin[host_->n_jobs]);
  requests_.clear();
  places_.clear();
  for (const cuda_abi::PlaceTask& task : tasks) {
    const kernel::PlaceRequest& request = *task.request;
    const auto n = static_cast<std::size_t>(request.n);
    const auto add = [&](const auto* column, std::size_t count) {
      places_.push_back(requests_.add(column, column == nullptr ? 0 : count * sizeof(*column)));
    };
    add(request.order, n);
    add(request.running, n);
    add(request.victim_ok, n);
    add(request.preemption_class, request.class_rule != 0 ? jobs : 0);
    add(request.job_rank, request.discipline == kernel::Discipline::kEasy ? jobs : 0);
    add(request.option_run, options);
    add(request.releases, request.discipline == kernel::Discipline::kEasy ? static_cast<std::size_t>(request.n_releases) : 0);
    add(task.taken, static_cast<std::size_t>(task.n_taken));
  }
  requests_.upload(stream_->get());

  const ResultColumns columns(columns_.data(), sizes.walks, sizes.positions);
  std::byte* workspace = workspace_.data();
  kernel::PlacedRow* entries = entries_.data();
  std::size_t position = 0;
  const std::size_t* place = places_.data();
  for (std::size_t w = 0; w < tasks.size(); ++w, place += kColumns + 1) {
    const cuda_abi::PlaceTask& task = tasks[w];
    PlaceSlot& slot = host_slots_.data()[w];
    slot.request = *task.request;
    slot.request.order = requests_.at<const std::int32_t>(place[0]);
    slot.request.running = requests_.at<const std::uint8_t>(place[1]);
    slot.request.victim_ok = requests_.at<const std::uint8_t>(place[2]);
    slot.request.preemption_class = requests_.at<const std::int32_t>(place[3]);
    slot.request.job_rank = requests_.at<const std::int32_t>(place[4]);
    slot.request.option_run = requests_.at<const TimeUs>(place[5]);
    slot.request.releases = requests_.at<const kernel::ReleaseRow>(place[6]);
    slot.taken = requests_.at<const kernel::TakenRow>(place[7]);
    slot.n_taken = task.n_taken;
    // Addresses only are computed here, so the host's problem serves.
    slot.workspace = kernel::carve_workspace(workspace, *host_, *task.request);
    slot.result.outcome = reinterpret_cast<kernel::Outcome*>(columns.outcome + position);
    slot.result.option = columns.option + position;
    slot.result.entry_begin = columns.entry_begin + position;
    slot.result.entry_end = columns.entry_end + position;
    slot.result.displaced_by = columns.displaced + position;
    slot.result.entries = entries;
    slot.result.max_entries = task.result.max_entries;
    slot.result.n_entries = columns.n_entries + w;
    slot.result.reserve_at = columns.reserve_at + w;
    const Sizes one = size_of(*host_, task);
    position += one.positions;
    entries += one.entries;
    workspace += one.workspace;
  }
  check(cudaMemcpyAsync(slots_.data(), host_slots_.data(), tasks.size() * sizeof(PlaceSlot), cudaMemcpyHostToDevice, stream_->get()),
        "upload walks");
}

void Placer::download(std::span<const cuda_abi::PlaceTask> tasks, const Sizes& sizes) {
  const std::size_t bytes = ResultColumns::bytes(sizes.walks, sizes.positions);
  host_columns_.reserve(bytes, "reserve host memory for results");
  check(cudaMemcpyAsync(host_columns_.data(), columns_.data(), bytes, cudaMemcpyDeviceToHost, stream_->get()), "download results");
  stream_->wait("place in order");

  const ResultColumns columns(host_columns_.data(), sizes.walks, sizes.positions);
  std::size_t position = 0;
  for (std::size_t w = 0; w < tasks.size(); ++w) {
    const kernel::PlaceResult& result = tasks[w].result;
    const auto n = static_cast<std::size_t>(tasks[w].request->n);
    const auto copy = [&](void* to, const std::int32_t* from) {
      if (n != 0) std::memcpy(to, from + position, n * sizeof(std::int32_t));
    };
    copy(result.outcome, columns.outcome);
    copy(result.option, columns.option);
    copy(result.entry_begin, columns.entry_begin);
    copy(result.entry_end, columns.entry_end);
    copy(result.displaced_by, columns.displaced);
    *result.n_entries = columns.n_entries[w];
    *result.reserve_at = columns.reserve_at[w];
    position += n;
  }
  download_entries(tasks);
}

void Placer::download_entries(std::span<const cuda_abi::PlaceTask> tasks) {
  host_starts_.reserve(tasks.size() + 1, "reserve host memory for entries");
  std::int64_t* starts = host_starts_.data();
  starts[0] = 0;
  for (std::size_t w = 0; w < tasks.size(); ++w) starts[w + 1] = starts[w] + *tasks[w].result.n_entries;
  const auto total = static_cast<std::size_t>(starts[tasks.size()]);
  if (total == 0) return;
  host_entries_.reserve(total, "reserve host memory for entries");
  const kernel::PlacedRow* from = entries_.data();
  if (tasks.size() > 1) {  // a single walk's entries have no gaps
    starts_.reserve(tasks.size() + 1, "reserve entries");
    packed_.reserve(total, "reserve entries");
    check(cudaMemcpyAsync(starts_.data(), starts, (tasks.size() + 1) * sizeof(std::int64_t), cudaMemcpyHostToDevice, stream_->get()),
          "upload the starts of entries");
    pack_entries_kernel<<<static_cast<unsigned>(tasks.size()), kForEachThreads, 0, stream_->get()>>>(slots_.data(), starts_.data(),
                                                                                                     packed_.data());
    check_launch(stream_->get(), "launch pack_entries_kernel");
    from = packed_.data();
  }
  check(cudaMemcpyAsync(host_entries_.data(), from, total * sizeof(kernel::PlacedRow), cudaMemcpyDeviceToHost, stream_->get()),
        "download entries");
  stream_->wait("download entries");
  for (std::size_t w = 0; w < tasks.size(); ++w) {
    const auto n = static_cast<std::size_t>(starts[w + 1] - starts[w]);
    if (n != 0) std::memcpy(tasks[w].result.entries, host_entries_.data() + starts[w], n * sizeof(kernel::PlacedRow));
  }
}

}  // namespace berth::cuda
