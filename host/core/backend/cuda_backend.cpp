#include "host/core/backend/cuda_backend.hpp"

#include <chrono>
#include <cstring>

#include "host/cpu/contend.hpp"
#include "host/cpu/delay_replay.hpp"
#include "host/cpu/ones.hpp"
#include "host/cpu/place.hpp"
#include "host/cpu/plan_search.hpp"
#include "host/cpu/price.hpp"
#include "host/cpu/replay.hpp"
#include "host/cpu/score.hpp"
#include "host/cpu/victims.hpp"

namespace berth::core {

std::unique_ptr<CudaBackend> CudaBackend::open(std::string& why, bool* short_memory, const std::string& device) {
  const std::vector<DeviceInfo> devices = chosen_devices(list_devices(why, short_memory), device);
  if (devices.empty()) return nullptr;
  const cuda_abi::Table* table = cuda_table(why);
  if (table == nullptr) return nullptr;
  for (const DeviceInfo& one : devices) {
    if (!one.why_not.empty()) {
      if (why.empty()) why = one.name + ": " + one.why_not;
      continue;
    }
    cuda_abi::Message message{};
    void* context = nullptr;
    const cuda_abi::Status status = table->open(one.index, &context, &message);
    if (status == cuda_abi::Status::kOk) {
      why.clear();
      return std::unique_ptr<CudaBackend>(new CudaBackend(table, context, device_label(one)));
    }
    if (status == cuda_abi::Status::kOutOfMemory && short_memory != nullptr) *short_memory = true;
    if (why.empty()) why = one.name + ": " + message.text;
  }
  return nullptr;
}

CudaBackend::~CudaBackend() {
  if (context_ != nullptr && !forked_from_cuda()) table_->close(context_);
}

void CudaBackend::require_context() const {
  if (forked_from_cuda()) throw DeviceError(kForked);
  if (context_ == nullptr) throw DeviceError(failure_);
}

void CudaBackend::check(cuda_abi::Status status, const cuda_abi::Message& message) {
  if (status == cuda_abi::Status::kOk) {
    ++gpu_operations_;
    return;
  }
  if (status != cuda_abi::Status::kOutOfMemory) {
    table_->close(context_);
    context_ = nullptr;
    failure_ = message.text;
  }
  throw DeviceError(message.text, status == cuda_abi::Status::kOutOfMemory);
}

void CudaBackend::on_cpu(const char* why) {
  ++cpu_operations_;
  why_cpu_ = why;
}

void CudaBackend::place(const kernel::ProblemView& problem, const PlaceTask& scenario, const kernel::PlaceResult& result) {
  const StopToken* const stop = scenario.stop_token;
  if (stop != nullptr && (stop->progress != nullptr || stop->deadline != std::chrono::steady_clock::time_point::max())) {
    on_cpu("a scheduling pass with a time budget or progress reports runs on the CPU: a kernel is not stopped");
    return cpu::place(problem, scenario, result, memory_);
  }
  place_batch(problem, std::span<const PlaceTask>(&scenario, 1), std::span<const kernel::PlaceResult>(&result, 1));
}

void CudaBackend::place_batch(const kernel::ProblemView& problem, std::span<const PlaceTask> scenarios,
                              std::span<const kernel::PlaceResult> results) {
  require_context();
  tasks_.clear();
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const PlaceTask& scenario = scenarios[i];
    tasks_.push_back({&scenario.request, scenario.taken.data(), static_cast<std::int32_t>(scenario.taken.size()), results[i]});
  }
  cuda_abi::Message message{};
  check(table_->place(context_, &problem, tasks_.data(), static_cast<std::int32_t>(tasks_.size()), &message), message);
}

void CudaBackend::score(const kernel::ProblemView& problem, const kernel::ScoreQuery& request, kernel::CandidateRow* out) {
  score(problem, request, cpu::Collapse::kOn, out);
}

void CudaBackend::score(const kernel::ProblemView& problem, const kernel::ScoreQuery& request, cpu::Collapse collapse,
                        kernel::CandidateRow* out) {
  require_context();
  if (request.n == 0) return;
  score_table_.build(problem, request, collapse);
  const kernel::ScoreTableView view = score_table_.view();
  std::vector<kernel::BestPlace>& best = score_table_.best();
  best.resize(static_cast<std::size_t>(view.n_demands) * static_cast<std::size_t>(view.k));
  cuda_abi::Message message{};
  check(table_->score(context_, &view, best.data(), &message), message);
  cpu::write_candidates(score_table_, 1, request.n, best.data(), out);
}

void CudaBackend::price(std::span<const PriceTask> tasks, std::span<const kernel::PriceResult> results) {
  if (tasks.size() == 1) {
    on_cpu("a single choice by prices runs on the CPU");
    return cpu::price(tasks, results, 1);
  }
  require_context();
  choices_.clear();
  for (std::size_t i = 0; i < tasks.size(); ++i) choices_.push_back({&tasks[i].problem, &tasks[i].request, results[i]});
  cuda_abi::Message message{};
  check(table_->price(context_, choices_.data(), static_cast<std::int32_t>(choices_.size()), &message), message);
}

void CudaBackend::ones(const OnesTask& task, const kernel::OnesResult& result) {
  require_context();
  if (task.problem.n_jobs == 0) return cpu::OnesSearch().run(task, result, 1);
  cuda_abi::AbiOnesTask one{&task.problem, &task.request, result, nullptr, &task};
  if (task.stop_token != nullptr) {
    one.stop = [](const void* of, std::int32_t made) {
      const auto& asked = *static_cast<const OnesTask*>(of);
      return asked.stop_token->stop(made, asked.request.generations) ? 1 : 0;
    };
  }
  cuda_abi::Message message{};
  check(table_->ones(context_, &one, &message), message);
}

void CudaBackend::plan_search(const PlanSearchTask& task, const kernel::PlanSearchResult& result) {
  require_context();
  if (task.problem.n_jobs == 0 || task.problem.problem.n_nodes == 0) return cpu::CpuPlanSearch().run(task, result, 1);
  cuda_abi::AbiPlanSearchTask one{&task.problem, &task.request, result, nullptr, &task};
  if (task.stop_token != nullptr) {
    one.stop = [](const void* of, std::int32_t made) {
      const auto& asked = *static_cast<const PlanSearchTask*>(of);
      return asked.stop_token->stop(made, asked.request.generations) ? 1 : 0;
    };
  }
  cuda_abi::Message message{};
  check(table_->plan_search(context_, &one, &message), message);
}

void CudaBackend::replay(const kernel::ReplayView& problem, std::span<const ReplayTask> tasks,
                         std::span<const kernel::ReplayResult> results) {
  if (tasks.size() == 1) {
    on_cpu("a single replay runs on the CPU");
    return cpu::replay(problem, tasks, results, 1);
  }
  require_context();
  replays_.clear();
  for (std::size_t i = 0; i < tasks.size(); ++i) replays_.push_back({&tasks[i].request, results[i]});
  cuda_abi::Message message{};
  check(table_->replay(context_, &problem, replays_.data(), static_cast<std::int32_t>(replays_.size()), &message), message);
}

void CudaBackend::delay_replay(const kernel::DelayReplayView& problem, std::span<const DelayReplayTask> tasks,
                               std::span<const kernel::DelayReplayResult> results) {
  if (tasks.size() == 1) {
    on_cpu("a single replay runs on the CPU");
    return cpu::delay_replay(problem, tasks, results, 1);
  }
  require_context();
  delay_replays_.clear();
  for (std::size_t i = 0; i < tasks.size(); ++i) delay_replays_.push_back({&tasks[i].request, results[i]});
  cuda_abi::Message message{};
  check(table_->delay_replay(context_, &problem, delay_replays_.data(), static_cast<std::int32_t>(delay_replays_.size()), &message),
        message);
}

void CudaBackend::contend(const kernel::ContendView& problem, const kernel::ContendRequest& request, const kernel::ContendResult& result) {
  require_context();
  if (request.n == 0) return cpu::CpuContention().run(problem, request, result, 1);
  cuda_abi::Message message{};
  check(table_->contend(context_, &problem, &request, &result, &message), message);
}

void CudaBackend::victims(const kernel::ProblemView& problem, const kernel::VictimsRequest& request, const kernel::VictimsResult& result) {
  if (request.n == 1) {
    on_cpu("a single question about victims runs on the CPU");
    return cpu::CpuVictims().run(problem, request, result, 1);
  }
  require_context();
  if (request.n == 0) return cpu::CpuVictims().run(problem, request, result, 1);
  cuda_abi::Message message{};
  check(table_->victims(context_, &problem, &request, &result, &message), message);
}

std::unique_ptr<PlacementBackend> make_cuda_backend(std::string& why, bool* short_memory, const std::string& device) {
  return CudaBackend::open(why, short_memory, device);
}

}  // namespace berth::core
