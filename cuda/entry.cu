#include <cstdio>
#include <exception>
#include <memory>
#include <new>

#include "berth/build_id.hpp"
#include "cuda/architectures.hpp"
#include "cuda/check.hpp"
#include "cuda/contend.cuh"
#include "cuda/delay_replay.cuh"
#include "cuda/excess.hpp"
#include "cuda/launch.cuh"
#include "cuda/mirror.cuh"
#include "cuda/ones.cuh"
#include "cuda/place.cuh"
#include "cuda/plan_search.cuh"
#include "cuda/price.cuh"
#include "cuda/replay.cuh"
#include "cuda/score.cuh"
#include "cuda/victims.cuh"
#include "host/backend/cuda_abi.hpp"

/// The library's only exported symbol. Everything that throws is caught here.
namespace berth::cuda {
namespace {

using cuda_abi::DeviceRow;
using cuda_abi::Message;
using cuda_abi::Status;

void write(Message* message, const char* text) {
  if (message != nullptr) std::snprintf(message->text, sizeof(message->text), "%s", text);
}

template <class Fn>
Status guarded(Message* message, const Fn& fn) noexcept {
  try {
    fn();
    return Status::kOk;
  } catch (const CudaError& error) {
    write(message, error.what());
    return error.status();
  } catch (const std::bad_alloc&) {
    write(message, "no host memory for the transfer");
    return Status::kOutOfMemory;
  } catch (const std::exception& error) {
    write(message, error.what());
    return Status::kFailed;
  } catch (...) {
    write(message, "an unknown exception");
    return Status::kFailed;
  }
}

/// Does nothing. That it runs shows that the device and this build go together.
__global__ void probe_kernel() {}

/// What cuda/CMakeLists.txt compiles this library for.
constexpr const char* kArchitectures = BERTH_CUDA_ARCHITECTURES;

[[noreturn]] void no_device(const std::string& text) { throw CudaError(Status::kNoDevice, text); }

std::string version(int cuda) { return std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10); }

/// The number of devices. Throws kNoDevice with a plain description of what is missing.
int count_devices(int& driver) {
  driver = 0;
  check(cudaDriverGetVersion(&driver), "query the driver's version");
  if (driver == 0) no_device("no NVIDIA driver is installed; CUDA " + version(CUDART_VERSION) + " needs one");
  int n = 0;
  const cudaError_t error = cudaGetDeviceCount(&n);
  if (error == cudaErrorInsufficientDriver) {
    cudaGetLastError();
    no_device("the driver knows CUDA " + version(driver) + " at most; this build needs CUDA " + version(CUDART_VERSION / 1000 * 1000));
  }
  if (error == cudaErrorNoDevice || (error == cudaSuccess && n == 0)) {
    cudaGetLastError();
    no_device("the driver (CUDA " + version(driver) + ") shows no GPU");
  }
  if (error == cudaErrorMemoryAllocation) check(error, "count the devices");
  if (error != cudaSuccess) {
    cudaGetLastError();
    no_device(std::string("the driver (CUDA ") + version(driver) + ") does not answer: " + cudaGetErrorString(error));
  }
  return n;
}

void say_no_code(DeviceRow& row) {
  row.usable = 0;
  std::snprintf(row.why_not, sizeof(row.why_not), "this build has no code for compute capability %d.%d, only %s", row.major, row.minor,
                architecture_names(kArchitectures).c_str());
}

/// A number that some devices do not state; 0 then.
std::int64_t attribute(int device, cudaDeviceAttr which) {
  int value = 0;
  const cudaError_t error = cudaDeviceGetAttribute(&value, which, device);
  check_noexcept(error);
  return error == cudaSuccess ? value : 0;
}

// As the driver's tools print it.
void write_uuid(const char* bytes, DeviceRow& row) {
  char* to = row.uuid;
  const auto left = [&] { return sizeof(row.uuid) - static_cast<std::size_t>(to - row.uuid); };
  to += std::snprintf(to, left(), "GPU");
  constexpr int kBytes = 16;
  for (int i = 0; i < kBytes; ++i) {
    const bool begins = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
    to += std::snprintf(to, left(), begins ? "-%02x" : "%02x", static_cast<unsigned>(static_cast<unsigned char>(bytes[i])));
  }
}

void describe(int device, int driver, DeviceRow& row) {
  row = DeviceRow{};
  row.driver = driver;
  row.runtime = CUDART_VERSION;
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "query the device's properties");
  std::snprintf(row.name, sizeof(row.name), "%s", properties.name);
  write_uuid(properties.uuid.bytes, row);
  row.major = properties.major;
  row.minor = properties.minor;
  row.multiprocessors = properties.multiProcessorCount;
  row.memory = static_cast<std::int64_t>(properties.totalGlobalMem);
  constexpr std::int64_t kHzPerKhz = 1000, kTransfersPerClock = 2, kBitsPerByte = 8;
  row.clock = kHzPerKhz * attribute(device, cudaDevAttrClockRate);
  row.memory_rate =
      kTransfersPerClock * kHzPerKhz * attribute(device, cudaDevAttrMemoryClockRate) * properties.memoryBusWidth / kBitsPerByte;
  row.usable = 1;
  if (!has_code(kArchitectures, 10 * row.major + row.minor)) say_no_code(row);
}

/// Throws kNoDevice with the cause unless probe_kernel can run on the current device.
void check_code(DeviceRow& row) {
  cudaFuncAttributes attributes{};
  const cudaError_t error = cudaFuncGetAttributes(&attributes, probe_kernel);
  if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction) {
    cudaGetLastError();
    say_no_code(row);
    no_device(row.why_not);
  }
  check(error, "query probe_kernel");
}

/// An operation on a problem that stays on the device.
template <class Operation>
struct Mirrored {
  Mirror mirror;
  Operation operation;
};

/// State of a backend on one device.
struct Context {
  int device;
  Tuning tuning;
  Stream stream;
  Kept<Mirrored<Placer>> placer;
  Kept<Scorer> scorer;
  Kept<Pricer> pricer;
  Kept<Replayer> replayer;
  Kept<DelayReplayer> delay_replayer;
  Kept<DeviceContention> contention;
  Kept<OnesSearcher> ones_searcher;
  Kept<Mirrored<VictimsFinder>> victims_finder;
  Kept<Mirrored<PlanSearcher>> plan_searcher;  // its problem is separate from that of passes: each mirror sends little

  Context(int which, const Tuning& chosen) : device(which), tuning(chosen) {}
  /// The state of one kind of operation, for one operation. That of the other kinds goes after a while.
  template <class T>
  T& begin(Kept<T>& one) {
    const auto rest = [&](auto& kept) {
      if (static_cast<void*>(&kept) != static_cast<void*>(&one)) kept.rest();
    };
    rest(placer), rest(scorer), rest(pricer), rest(replayer), rest(delay_replayer), rest(contention), rest(ones_searcher),
        rest(plan_searcher), rest(victims_finder);
    return one.use();
  }
  // After a failure the stream may still use the memory above.
  ~Context() { check_noexcept(cudaStreamSynchronize(stream.get())); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
};

/// Runs an operation of an open context. After a failure nothing of it goes on: the caller's memory may be gone, and the next
/// operation fills the same memory.
template <class Operation>
Status on_context(void* context, Message* message, const Operation& operation) {
  return guarded(message, [&] {
    auto& opened = *static_cast<Context*>(context);
    const DeviceScope scope(opened.device);
    try {
      operation(opened);
    } catch (...) {
      check_noexcept(cudaStreamSynchronize(opened.stream.get()));
      throw;
    }
  });
}

Status list(DeviceRow* rows, std::int32_t most, std::int32_t* n, Message* message) {
  *n = 0;
  return guarded(message, [&] {
    int driver = 0;
    const int count = count_devices(driver);
    for (int device = 0; device < count && *n < most; ++device) describe(device, driver, rows[(*n)++]);
  });
}

Status open(std::int32_t row, void** context, Message* message) {
  *context = nullptr;
  return guarded(message, [&] {
    const DeviceScope scope(row);
    DeviceRow device{};
    describe(row, 0, device);
    check_code(device);
    auto opened = std::make_unique<Context>(row, tuning_for(10 * device.major + device.minor));
    launch(probe_kernel, 1, 1, 0, opened->stream.get())();
    check_launch(opened->stream.get(), "launch probe_kernel");
    opened->stream.wait("start the device");
    *context = opened.release();
  });
}

void close(void* context) {
  std::unique_ptr<Context> opened(static_cast<Context*>(context));
  if (opened == nullptr) return;
  guarded(nullptr, [&] {
    const DeviceScope scope(opened->device);
    opened.reset();
  });
}

Status place(void* context, const kernel::ProblemView* problem, const cuda_abi::AbiPlaceTask* tasks, std::int32_t n, Message* message) {
  return on_context(context, message, [&](Context& opened) {
    Mirrored<Placer>& one = opened.begin(opened.placer);
    const DeviceProblem device = one.mirror.follow(*problem, opened.stream.get());
    one.operation.run(*problem, device, {tasks, static_cast<std::size_t>(n)}, opened.tuning, opened.stream);
  });
}

Status score(void* context, const kernel::ScoreTableView* table, kernel::BestPlace* best, Message* message) {
  return on_context(context, message, [&](Context& opened) { opened.begin(opened.scorer).run(*table, opened.stream, best); });
}

Status price(void* context, const cuda_abi::AbiPriceTask* tasks, std::int32_t n, Message* message) {
  return on_context(context, message, [&](Context& opened) {
    opened.begin(opened.pricer).run({tasks, static_cast<std::size_t>(n)}, opened.tuning, opened.stream);
  });
}

Status ones(void* context, const cuda_abi::AbiOnesTask* task, Message* message) {
  return on_context(context, message, [&](Context& opened) { opened.begin(opened.ones_searcher).run(*task, opened.stream); });
}

Status plan_search(void* context, const cuda_abi::AbiPlanSearchTask* task, Message* message) {
  return on_context(context, message, [&](Context& opened) {
    Mirrored<PlanSearcher>& one = opened.begin(opened.plan_searcher);
    const DeviceProblem device = one.mirror.follow(task->problem->problem, opened.stream.get());
    one.operation.run(*task, device, opened.tuning, opened.stream);
  });
}

Status replay(void* context, const kernel::ReplayView* problem, const cuda_abi::AbiReplayTask* tasks, std::int32_t n, Message* message) {
  return on_context(context, message, [&](Context& opened) {
    opened.begin(opened.replayer).run(*problem, {tasks, static_cast<std::size_t>(n)}, opened.tuning, opened.stream);
  });
}

Status delay_replay(void* context, const kernel::DelayReplayView* problem, const cuda_abi::AbiDelayReplayTask* tasks, std::int32_t n,
                    Message* message) {
  return on_context(context, message, [&](Context& opened) {
    opened.begin(opened.delay_replayer).run(*problem, {tasks, static_cast<std::size_t>(n)}, opened.tuning, opened.stream);
  });
}

Status contend(void* context, const kernel::ContendView* problem, const kernel::ContendRequest* request,
               const kernel::ContendResult* result, Message* message) {
  return on_context(context, message, [&](Context& opened) {
    opened.begin(opened.contention).run(*problem, *request, *result, opened.tuning, opened.stream);
  });
}

Status victims(void* context, const kernel::ProblemView* problem, const kernel::VictimsRequest* request,
               const kernel::VictimsResult* result, Message* message) {
  return on_context(context, message, [&](Context& opened) {
    Mirrored<VictimsFinder>& one = opened.begin(opened.victims_finder);
    const DeviceProblem device = one.mirror.follow(*problem, opened.stream.get());
    one.operation.run(*problem, device, *request, *result, opened.tuning, opened.stream);
  });
}

}  // namespace
}  // namespace berth::cuda

extern "C" __attribute__((visibility("default"))) const berth::cuda_abi::Table* berth_cuda_table() {
  static constexpr berth::cuda_abi::Table kTable{BERTH_BUILD_ID,      berth::cuda::list,         berth::cuda::open,
                                                 berth::cuda::close,  berth::cuda::place,        berth::cuda::score,
                                                 berth::cuda::price,  berth::cuda::ones,         berth::cuda::plan_search,
                                                 berth::cuda::replay, berth::cuda::delay_replay, berth::cuda::contend,
                                                 berth::cuda::victims};
  return &kTable;
}
