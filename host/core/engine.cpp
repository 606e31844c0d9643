#include "berth/engine.hpp"

#include <chrono>
#include <string>
#include <utility>

#include "berth/error.hpp"
#include "host/core/backend.hpp"
#include "host/core/devices.hpp"
#include "host/core/mend.hpp"
#include "host/core/names.hpp"
#include "host/core/plan_builder.hpp"
#include "host/core/plan_validator.hpp"
#include "host/core/state_impl.hpp"
#include "host/core/table_hash.hpp"
#include "host/core/walk_input.hpp"

namespace berth {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

class Stopwatch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double s = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return s;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

class EngineImpl {
 public:
  // The policy of the last decision; made anew when another is asked for.
  const core::PolicyEntry* entry = nullptr;
  core::Params params;
  std::unique_ptr<core::QueuePolicy> policy;
  core::WalkRules rules{};

  std::unique_ptr<core::PlacementBackend> reference, cpu, cuda;
  int cpu_threads = 0;
  std::string cuda_failure;  // why the GPU is not asked any more

  core::WalkInput input;
  core::FinalState before;  // with mended and lost jobs taken into account
  core::Mender mender;
  core::PlanBuilder builder;
  core::PlanValidator validator;
  std::vector<std::uint8_t> lost;
  std::vector<std::int32_t> mended;
  std::vector<std::vector<PlanEntry>> mends;
  std::vector<kernel::Outcome> outcome;
  std::vector<std::int32_t> option, entry_begin, entry_end, displaced_by;
  std::vector<kernel::PlacedRow> entries;
  std::vector<kernel::OptionRow> consolidated;
  std::weak_ptr<const int> served;  // the state of the last decision
  std::atomic<bool> cancelled{false};

  /// Versions number the changes of one state: what is kept by version is of no use for another state.
  void serve(const StateImpl& s) {
    if (served.lock() == s.identity) return;
    input = {};
    builder = {};
    served = s.identity;
  }
  void choose(const Request& request);
  core::PlacementBackend& backend(const Request& request, std::string& note);
  bool find_failures(const StateImpl& s);
  kernel::ProblemView problem(const StateImpl& s);
  kernel::PlaceResult result(const kernel::ProblemView& p, const kernel::PlaceRequest& request, std::int32_t& n_entries, TimeUs& reserve_at,
                             std::int32_t& gave_up);
};

void EngineImpl::choose(const Request& request) {
  if (entry != nullptr && entry->info.name == request.policy && params == request.params) return;
  const core::PolicyEntry& found = core::find_policy(request.policy);
  rules = core::walk_rules(found, request.params);
  policy = found.make(request.params);
  entry = &found;
  params = request.params;
}

core::PlacementBackend& EngineImpl::backend(const Request& request, std::string& note) {
  if (request.backend == Backend::kReference) {
    if (!reference) reference = core::make_reference_backend();
    return *reference;
  }
  if (request.backend == Backend::kCuda && cuda_failure.empty()) {
    if (!cuda) cuda = core::make_cuda_backend(cuda_failure);
    if (cuda) return *cuda;
  }
  if (request.backend == Backend::kCuda) note = cuda_failure;
  // One ordered walk is faster on a CPU thread than on any GPU: `auto` says cpu.
  if (!cpu || cpu_threads != request.threads) {
    cpu = core::make_cpu_backend(request.threads);
    cpu_threads = request.threads;
  }
  return *cpu;
}

/// Jobs that hold failed GPUs: mended where possible, else marked to be placed anew. @returns whether there are any.
bool EngineImpl::find_failures(const StateImpl& s) {
  lost.assign(s.jobs.size(), 0);
  mended.assign(s.jobs.size(), -1);
  mends.clear();
  bool any = false;
  for (const std::int32_t slot : s.job_order) {
    if (s.job.running[at(slot)] == 0 || !s.lost_gpus(slot)) continue;
    if (!any) before.begin(s.problem());
    any = true;
    std::vector<PlanEntry> gang;
    if (mender.mend(s, slot, before, gang)) {
      mended[at(slot)] = static_cast<std::int32_t>(mends.size());
      mends.push_back(std::move(gang));
    } else {
      lost[at(slot)] = 1;
      before.release(slot);
    }
  }
  return any;
}

kernel::ProblemView EngineImpl::problem(const StateImpl& s) {
  if (rules.placement == core::Placement::kConsolidate) {
    const kernel::ProblemView& p = s.problem();
    consolidated.assign(p.options, p.options + p.option_begin[p.n_jobs]);
    for (kernel::OptionRow& o : consolidated) {
      const std::int32_t type = s.demands.rows()[at(o.demand)].gpu_type;
      o.demand = s.demands.consolidated(o.demand, s.type_size[at(type)].gpus_per_node);
    }
  }
  const bool failures = find_failures(s);
  kernel::ProblemView p = failures ? before.view() : s.problem();
  if (rules.placement == core::Placement::kConsolidate) {
    p.options = consolidated.data();
    p.n_demands = static_cast<std::int32_t>(s.demands.rows().size());
    p.demands = s.demands.rows().data();
    p.groups = s.demands.groups().data();
  }
  return p;
}

kernel::PlaceResult EngineImpl::result(const kernel::ProblemView& p, const kernel::PlaceRequest& request, std::int32_t& n_entries,
                                       TimeUs& reserve_at, std::int32_t& gave_up) {
  const std::size_t n = at(request.n);
  outcome.resize(n);
  for (auto* column : {&option, &entry_begin, &entry_end, &displaced_by}) column->resize(n);
  // A reservation may name GPUs that other jobs of the plan get first.
  const std::int32_t bound = core::entry_bound(p);
  entries.resize(2 * at(bound));
  return {outcome.data(), option.data(), entry_begin.data(), entry_end.data(), displaced_by.data(),
          entries.data(), 2 * bound,     &n_entries,         &reserve_at,      &gave_up};
}

Engine::Engine() : impl_(std::make_unique<EngineImpl>()) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

void Engine::cancel() noexcept { impl_->cancelled.store(true, std::memory_order_relaxed); }

Plan Engine::decide(const ClusterState& state, const Request& request) {
  PolicyState policy_state;
  Plan plan;
  decide(state, policy_state, request, plan);
  return plan;
}

void Engine::decide(const ClusterState& state, PolicyState& policy_state, const Request& request, Plan& plan) {
  EngineImpl& m = *impl_;
  const StateImpl& s = state.impl();
  if (request.threads < 1 || request.threads > 4096)
    throw InvalidArgument("threads is " + std::to_string(request.threads) + ", not in 1..4096");
  if (request.work_limit < 0 || request.budget_us < 0) throw InvalidArgument("a limit of work or time is not negative");
  core::Watch watch;
  watch.cancelled = &m.cancelled;
  if (request.budget_us > 0) watch.deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(request.budget_us);
  m.choose(request);
  if (!policy_state.policy.empty() && policy_state.policy != request.policy) {
    throw InvalidArgument("the policy state is of '" + policy_state.policy + "', not of '" + request.policy + "'");
  }
  policy_state.policy = request.policy;

  Stopwatch total;
  Stopwatch step;
  plan.timing = {};
  m.serve(s);
  const kernel::ProblemView p = m.problem(s);
  plan.timing.compile_s = step.lap();
  const core::WalkInput::Marks marks{m.lost, m.mended, m.builder.decline(s, p)};
  m.input.order(s, *m.entry, *m.policy, policy_state, marks);
  const kernel::PlaceRequest walk = m.input.request(s, *m.entry, m.rules, marks, request.work_limit);
  plan.timing.order_s = step.lap();

  std::int32_t n_entries = 0;
  std::int32_t gave_up = 0;
  TimeUs reserve_at = kNever;
  const kernel::PlaceResult result = m.result(p, walk, n_entries, reserve_at, gave_up);
  core::Scenario scenario{walk, {}, &watch};
  plan.backend_note.clear();
  core::PlacementBackend* backend = &m.backend(request, plan.backend_note);
  try {
    backend->place(p, scenario, result);
  } catch (const core::DeviceError& error) {
    // The GPU is not asked again; the answer is the same from here.
    m.cuda.reset();
    m.cuda_failure = error.what();
    backend = &m.backend(request, plan.backend_note);
    backend->place(p, scenario, result);
  }
  m.cancelled.store(false, std::memory_order_relaxed);
  plan.timing.place_s = step.lap();

  plan.revision = s.revision;
  plan.now_us = s.now;
  plan.policy = request.policy;
  plan.params = request.params;
  plan.backend = backend->name();
  plan.seed = request.seed;
  const std::int32_t limit = watch.stopped_at >= 0 ? watch.stopped_at : walk.limit;
  plan.work_done = limit;
  plan.stopped_by = watch.stopped_at >= 0 ? (watch.by_cancel ? "cancel" : "budget") : walk.limit < walk.n ? "work" : "done";
  plan.tables = s.tables_hash();
  core::WalkOutput output{&walk, &result, &p, &m.lost, &m.mended, &m.mends};
  m.builder.build(s, output, plan);
  plan.timing.reasons_s = step.lap();

  core::ValidateOptions options;
  options.certificates = true;
  const std::vector<std::string>& violations = m.validator.check(s.facts(), plan, options);
  if (!violations.empty()) {
    std::string text = "the plan of policy '" + request.policy + "' failed validation:";
    for (const std::string& v : violations) text += "\n  " + v;
    throw InternalError(text);
  }
  plan.timing.validate_s = step.lap();
  plan.timing.decide_s = total.lap();
}

}  // namespace berth
