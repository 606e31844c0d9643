#pragma once

#include <cstdint>

#include "berth/kernel/choice.hpp"
#include "berth/kernel/ones.hpp"
#include "berth/kernel/plus.hpp"
#include "berth/kernel/problem.hpp"
#include "berth/kernel/score_table.hpp"

/// What passes between libberth and libberth_cuda: plain data, statuses and one table of functions. No exception, no
/// memory ownership and no C++ object crosses. Both sides must come from the same build: see `build_id`.
namespace berth::cuda_abi {

enum class Status : std::int32_t {
  kOk,
  kNoDevice,     // no driver, too old a driver, or no GPU that this build has code for
  kFailed,       // a call or a kernel failed; the context is not to be used again
  kOutOfMemory,  // not even the smallest piece of the work fits; other work may
};

/// Why a status is not kOk, for people.
struct Message {
  char text[512];
};

struct DeviceRow {
  char name[256];
  std::int32_t major, minor;  // compute capability
  std::int32_t multiprocessors;
  std::int32_t driver, runtime;  // CUDA versions, 1000 * major + 10 * minor
  std::int64_t memory;           // bytes
  std::int32_t usable;           // 1: this build has code for it
  char why_not[256];             // empty when usable
};

/// One walk of a batch.
struct PlaceTask {
  const kernel::PlaceRequest* request;
  const kernel::TakenRow* taken;  // [n_taken]
  std::int32_t n_taken;
  kernel::PlaceResult result;  // host columns
};

/// One choice of shapes of a batch.
struct ChooseTask {
  const kernel::ChoiceView* problem;  // host columns
  const kernel::ChoiceRequest* request;
  kernel::ChoiceResult result;  // host columns
};

/// An evolution of ONES.
struct EvolveTask {
  const kernel::OnesView* problem;     // host columns
  const kernel::OnesRequest* request;  // host columns
  kernel::OnesResult result;           // host columns
  /// Asked now and then between generations, on the caller's thread, with how many were made; null: never.
  std::int32_t (*stop)(const void* of, std::int32_t made);
  const void* stop_of;
};

/// A search of `ones-plus`.
struct PlusTask {
  const kernel::PlusView* problem;     // host columns; at least one job and one node
  const kernel::PlusRequest* request;  // host columns
  kernel::PlusResult result;           // host columns
  /// Asked before the first generation and now and then between two, on the caller's thread, with how many were made; null: never.
  std::int32_t (*stop)(const void* of, std::int32_t made);
  const void* stop_of;
};

struct Table {
  const char* build_id;
  /// Writes at most `most` rows. kNoDevice, with a message, when there is no driver or no GPU.
  Status (*list)(DeviceRow* rows, std::int32_t most, std::int32_t* n, Message* message);
  /// Opens a context on the GPU of that row of `list`.
  Status (*open)(std::int32_t row, void** context, Message* message);
  void (*close)(void* context);
  Status (*place)(void* context, const kernel::ProblemView* problem, const PlaceTask* tasks, std::int32_t n, Message* message);
  /// @param best  [n_asks * k] host, out
  Status (*score)(void* context, const kernel::ScoreTableView* table, kernel::AskBest* best, Message* message);
  Status (*choose)(void* context, const ChooseTask* tasks, std::int32_t n, Message* message);
  Status (*evolve)(void* context, const EvolveTask* task, Message* message);
  Status (*evolve_plans)(void* context, const PlusTask* task, Message* message);
};

/// The only symbol that libberth_cuda exports.
inline constexpr const char* kEntryName = "berth_cuda_table";
using EntryFunction = const Table* (*)();

}  // namespace berth::cuda_abi
