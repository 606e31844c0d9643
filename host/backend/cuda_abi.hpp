#pragma once

#include <cstdint>

#include "berth/kernel/base/problem.hpp"
#include "berth/kernel/contend/columns.hpp"
#include "berth/kernel/delay_replay/columns.hpp"
#include "berth/kernel/ones/columns.hpp"
#include "berth/kernel/plan_search/columns.hpp"
#include "berth/kernel/price/columns.hpp"
#include "berth/kernel/replay/columns.hpp"
#include "berth/kernel/score/table.hpp"
#include "berth/kernel/victims/columns.hpp"

/// The interface of libberth and libberth_cuda: plain data, statuses and one table of functions.
/// No exception, memory ownership or C++ object crosses it. Both sides must come from the same build: see `build_id`.
namespace berth::cuda_abi {

enum class Status : std::int32_t {
  kOk,
  kNoDevice,     // no driver, a driver that is too old, or no GPU that this build has code for
  kFailed,       // a call or a kernel failed; the context must not be used again
  kOutOfMemory,  // not even the smallest part of the work fits; other work may
};

/// Why a status is not kOk, as text for users.
struct Message {
  char text[512];
};

struct DeviceRow {
  char name[256];
  char uuid[48];              // "GPU-01234567-89ab-cdef-0123-456789abcdef"
  std::int32_t major, minor;  // compute capability
  std::int32_t multiprocessors;
  std::int32_t driver, runtime;  // CUDA versions, 1000 * major + 10 * minor
  std::int64_t memory;           // bytes
  std::int64_t memory_rate;      // bytes a second between memory and the processor, at most; 0: not stated
  std::int64_t clock;            // Hz, at most; 0: not stated
  std::int32_t usable;           // 1: this build has code for it
  char why_not[256];             // empty when usable
};

/// One scheduling pass of a batch.
struct AbiPlaceTask {
  const kernel::PlaceRequest* request;
  const kernel::TakenRow* taken;  // [n_taken]
  std::int32_t n_taken;
  kernel::PlaceResult result;  // host columns
};

/// One choice of shapes of a batch.
struct AbiPriceTask {
  const kernel::PriceView* problem;  // host columns
  const kernel::PriceRequest* request;
  kernel::PriceResult result;  // host columns
};

/// One replay of a batch.
struct AbiReplayTask {
  const kernel::ReplayRequest* request;  // host columns
  kernel::ReplayResult result;           // host columns
};

/// One replay with delay timers of a batch.
struct AbiDelayReplayTask {
  const kernel::DelayReplayRequest* request;  // host columns
  kernel::DelayReplayResult result;           // host columns
};

/// An evolution of ONES.
struct AbiOnesTask {
  const kernel::OnesView* problem;     // host columns
  const kernel::OnesRequest* request;  // host columns
  kernel::OnesResult result;           // host columns
  /// Called regularly between generations, on the caller's thread, with the number of generations done; null: never.
  std::int32_t (*stop)(const void* of, std::int32_t made);
  const void* stop_of;
};

/// A search of `ones-plus`.
struct AbiPlanSearchTask {
  const kernel::PlanSearchView* problem;     // host columns; at least one job and one node
  const kernel::PlanSearchRequest* request;  // host columns
  kernel::PlanSearchResult result;           // host columns
  /// Called before the first generation and regularly between generations, on the caller's thread, with the number done; null: never.
  std::int32_t (*stop)(const void* of, std::int32_t made);
  const void* stop_of;
};

struct Table {
  const char* build_id;
  /// Writes at most `most` rows. kNoDevice, with a message, when there is no driver or no GPU.
  Status (*list)(DeviceRow* rows, std::int32_t most, std::int32_t* n, Message* message);
  /// Opens a context on the GPU in that row of `list`.
  Status (*open)(std::int32_t row, void** context, Message* message);
  void (*close)(void* context);
  Status (*place)(void* context, const kernel::ProblemView* problem, const AbiPlaceTask* tasks, std::int32_t n, Message* message);
  /// @param best  [n_demands * k] host, out
  Status (*score)(void* context, const kernel::ScoreTableView* table, kernel::BestPlace* best, Message* message);
  Status (*price)(void* context, const AbiPriceTask* tasks, std::int32_t n, Message* message);
  Status (*ones)(void* context, const AbiOnesTask* task, Message* message);
  Status (*plan_search)(void* context, const AbiPlanSearchTask* task, Message* message);
  /// @param problem  Host columns.
  Status (*replay)(void* context, const kernel::ReplayView* problem, const AbiReplayTask* tasks, std::int32_t n, Message* message);
  /// @param problem  Host columns.
  Status (*delay_replay)(void* context, const kernel::DelayReplayView* problem, const AbiDelayReplayTask* tasks, std::int32_t n,
                         Message* message);
  /// At least one candidate. All columns are the host's.
  Status (*contend)(void* context, const kernel::ContendView* problem, const kernel::ContendRequest* request,
                    const kernel::ContendResult* result, Message* message);
  /// At least one question. All columns are the host's.
  Status (*victims)(void* context, const kernel::ProblemView* problem, const kernel::VictimsRequest* request,
                    const kernel::VictimsResult* result, Message* message);
};

/// The only symbol that libberth_cuda exports.
inline constexpr const char* kEntryName = "berth_cuda_table";
using EntryFunction = const Table* (*)();

}  // namespace berth::cuda_abi
