#include "host/sim/iterations/ada_srsf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <tuple>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/state_view.hpp"
#include "host/sim/iterations/iteration_form.hpp"

namespace berth::sim {
namespace {

struct RemainingDemand {
  __int128 compute_us = 0, exchange_us = 0;  // remaining, of one worker; of the all-reduces, each alone
};

// An estimate is at the rate of the trace; the stages of an iteration give more detail.
RemainingDemand remaining_demand(const Job& job, const NetworkCost& cost) {
  const Progress& progress = job.progress;
  const IterationForm form = iteration_form(job.profile, progress.work_total > 0, 1);
  const std::int64_t left = progress.work_total - progress.work_done;
  if (progress.work_total > 0 && form.stages_known) {
    const core::Wide iterations = core::ceil_div(core::Wide{left}, core::Wide{form.step});
    return {iterations * form.compute_us(form.step), form.bytes > 0 ? iterations * cost.alone_us(form.bytes) : 0};
  }
  if (job.estimate.run_us == kNever) throw InvalidArgument(fmt::format("policy 'ada-srsf': job '{}' has no estimate", job.id));
  if (progress.work_total > 0) return {core::mul_div(job.estimate.run_us, left, progress.work_total), 0};
  return {std::max<TimeUs>(0, job.estimate.run_us - progress.run_us), 0};
}

[[noreturn]] void refuse(const std::pair<std::string, std::string>& param, const char* expected) {
  throw InvalidArgument(fmt::format("--param {}={}: expected {}", param.first, param.second, expected));
}

}  // namespace

const PolicyInfo& ada_srsf_info() {
  static const PolicyInfo info{"ada-srsf",
                               "least workload first placement of jobs that share GPUs; time slices and all-reduces by remaining service",
                               "Ada-SRSF, LWF-kappa and AdaDUAL (arXiv 2002.10105)",
                               "greedy",
                               false,
                               {{"kappa", "1", "jobs of up to N GPUs take the least loaded ones, larger ones node by node"},
                                {"placement", "lwf", "lwf, or first-fit: the first GPUs with room"},
                                {"admission", "adadual", "when an all-reduce begins: adadual, one (alone on its cards), two, any"},
                                {"gpu_order", "least", "which job a shared GPU computes first: least (remaining service), fifo"}}};
  return info;
}

AdaSrsfSettings ada_srsf_settings(const std::vector<std::pair<std::string, std::string>>& params) {
  AdaSrsfSettings settings;
  for (const auto& param : params) {
    const std::string &name = param.first, &value = param.second;  // clang 14 captures no bindings
    if (name == "kappa") {
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), settings.kappa);
      if (error != std::errc() || end != value.data() + value.size() || settings.kappa < 0) refuse(param, "a whole number, not negative");
    } else if (name == "placement") {
      if (value != "lwf" && value != "first-fit") refuse(param, "lwf or first-fit");
      settings.first_fit = value == "first-fit";
    } else if (name == "gpu_order") {
      if (value != "least" && value != "fifo") refuse(param, "least or fifo");
      settings.rules.gpu_order = value == "least" ? GpuOrder::kLeast : GpuOrder::kFifo;
    } else if (name == "admission") {
      constexpr std::pair<const char*, Admission> kKnown[] = {
          {"adadual", Admission::kAdaDual}, {"one", Admission::kOne}, {"two", Admission::kTwo}, {"any", Admission::kAny}};
      const auto* const known = std::find_if(std::begin(kKnown), std::end(kKnown), [&](const auto& one) { return value == one.first; });
      if (known == std::end(kKnown)) refuse(param, "adadual, one, two or any");
      settings.rules.admission = known->second;
    } else {
      throw InvalidArgument(fmt::format("policy 'ada-srsf' has no parameter '{}'", name));
    }
  }
  return settings;
}

AdaSrsf::AdaSrsf(const AdaSrsfSettings& settings, const NetworkCost& cost, std::int32_t gpu_jobs, const Request& request)
    : settings_(settings), cost_(cost), gpu_jobs_(gpu_jobs), request_(request) {}

void AdaSrsf::add(const Job& job, const std::vector<std::size_t>& rooms) {
  const RemainingDemand still = remaining_demand(job, cost_);
  const bool spread = std::any_of(rooms.begin(), rooms.end(), [&](std::size_t r) { return rooms_[r].node != rooms_[rooms.front()].node; });
  for (const std::size_t r : rooms) {
    ++rooms_[r].jobs;
    rooms_[r].load += still.compute_us + (spread ? still.exchange_us : 0);
  }
}

// Finds the healthy GPUs and their jobs. A running job keeps its place, unless one of its GPUs has failed.
// @returns whether none has failed.
bool AdaSrsf::look(const StateView& s) {
  const kernel::ProblemView& p = s.problem();
  rooms_.clear();
  nodes_.clear();
  lines_.clear();
  waiting_.clear();
  bool all_work = true;
  for (std::int32_t n = 0; n < p.n_nodes; ++n) {
    nodes_.push_back({rooms_.size(), 0, p.node_cpu[n], p.node_memory[n]});
    for (std::uint64_t left = s.facts().node(n).ok; left != 0; left &= left - 1) rooms_.push_back({n, std::countr_zero(left)});
    nodes_.back().end = rooms_.size();
  }
  for (const std::int32_t job_index : s.job_order()) {
    const Job& job = *s.jobs()[to_index(job_index)].job;
    if (s.job().running[to_index(job_index)] == 0) {
      waiting_.push_back({remaining_demand(job, cost_).compute_us * job.shapes.front().gpus, job_index});
      continue;
    }
    core::RunLine line{job_index, 0, {}};
    bool works = true;
    chosen_.clear();
    for (std::int32_t h = p.held_begin[job_index]; h < p.held_end[job_index]; ++h) {
      const kernel::HeldRow& held = p.held[h];
      if (line.places.empty() || line.places.back().node != held.node) line.places.push_back({held.node, 0});
      line.places.back().gpus |= held.mask;
      line.gpus += std::popcount(held.mask);
      works = works && (held.mask & ~s.facts().node(held.node).works) == 0;
      const Node& node = nodes_[to_index(held.node)];
      for (std::size_t r = node.begin; r < node.end; ++r) {
        if ((held.mask >> rooms_[r].gpu & 1) != 0) chosen_.push_back(r);
      }
    }
    all_work = all_work && works;
    if (!works) continue;
    add(job, chosen_);
    lines_.push_back(std::move(line));
  }
  std::stable_sort(waiting_.begin(), waiting_.end(), [](const Waiting& a, const Waiting& b) { return a.service < b.service; });
  return all_work;
}

bool AdaSrsf::open(const StateView& s, const Job& job, std::int32_t gpu_type, std::int32_t n) const {
  const core::NodeFacts& node = s.facts().node(n);
  return node.type == gpu_type && node.node->state == NodeState::kReady && !node.reserved && node.node->available_from_us <= s.now() &&
         node.node->available_until_us == kNever && s.facts().refuses(job, n).empty();
}

// Selects GPUs of one type, into `chosen_`. @returns false when too few have room.
bool AdaSrsf::find(const StateView& s, const Job& job, std::int32_t gpus, std::int32_t gpu_type) {
  candidates_.clear();
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (!open(s, job, gpu_type, static_cast<std::int32_t>(n))) continue;
    for (std::size_t r = nodes_[n].begin; r < nodes_[n].end; ++r) {
      if (rooms_[r].jobs < gpu_jobs_) candidates_.push_back(r);
    }
  }
  const auto by_load = [&](std::size_t a, std::size_t b) {
    return rooms_[a].load != rooms_[b].load ? rooms_[a].load < rooms_[b].load : a < b;
  };
  if (!settings_.first_fit && gpus <= settings_.kappa) {
    std::sort(candidates_.begin(), candidates_.end(), by_load);
  } else if (!settings_.first_fit) {
    // Nodes by mean load: load divided by GPUs, compared by cross multiplication.
    std::vector<__int128> load(nodes_.size(), 0);
    for (const Room& room : rooms_) load[to_index(room.node)] += room.load;
    std::sort(candidates_.begin(), candidates_.end(), [&](std::size_t a, std::size_t b) {
      const std::size_t x = to_index(rooms_[a].node), y = to_index(rooms_[b].node);
      if (x == y) return by_load(a, b);
      const __int128 ours = load[x] * static_cast<std::int64_t>(nodes_[y].end - nodes_[y].begin);
      const __int128 theirs = load[y] * static_cast<std::int64_t>(nodes_[x].end - nodes_[x].begin);
      return ours != theirs ? ours < theirs : x < y;
    });
  }
  chosen_.clear();
  for (Node& node : nodes_) node.asked = 0;
  for (const std::size_t r : candidates_) {
    if (chosen_.size() == to_index(gpus)) break;
    Node& node = nodes_[to_index(rooms_[r].node)];
    const std::int64_t with = node.asked + 1;
    if (node.cpu != kernel::kNoLimit && with * job.constraints.cpu_milli_per_gpu > node.cpu) continue;
    if (node.memory != kernel::kNoLimit && with * job.constraints.memory_bytes_per_gpu > node.memory) continue;
    ++node.asked;
    chosen_.push_back(r);
  }
  return chosen_.size() == to_index(gpus);
}

bool AdaSrsf::start(const StateView& s, std::int32_t job_index) {
  const Job& job = *s.jobs()[to_index(job_index)].job;
  const auto types = static_cast<std::int32_t>(s.gpu_types().size());
  for (const Shape& shape : job.shapes) {
    if (shape.gpus != job.shapes.front().gpus) continue;
    for (std::int32_t type = 0; type < types; ++type) {
      if (!shape.gpu_type.empty() && shape.gpu_type != s.gpu_types()[to_index(type)].id) continue;
      if (core::flat_option(s, job_index, shape.gpus, type) < 0 || !find(s, job, shape.gpus, type)) continue;
      add(job, chosen_);
      std::sort(chosen_.begin(), chosen_.end());
      core::RunLine line{job_index, shape.gpus, {}};
      for (const std::size_t r : chosen_) {
        if (line.places.empty() || line.places.back().node != rooms_[r].node) line.places.push_back({rooms_[r].node, 0});
        line.places.back().gpus |= std::uint64_t{1} << rooms_[r].gpu;
        Node& node = nodes_[to_index(rooms_[r].node)];
        if (node.cpu != kernel::kNoLimit) node.cpu -= job.constraints.cpu_milli_per_gpu;
        if (node.memory != kernel::kNoLimit) node.memory -= job.constraints.memory_bytes_per_gpu;
      }
      lines_.push_back(std::move(line));
      return true;
    }
  }
  return false;
}

// Shares of one GPU do not make two GPUs of it, so the limit may be below what the state considers possible.
std::int64_t AdaSrsf::most_gpus(const StateView& s, const Job& job) const {
  std::int64_t most = 0;
  for (const Shape& shape : job.shapes) {
    for (std::int32_t type = 0; type < static_cast<std::int32_t>(s.gpu_types().size()); ++type) {
      if (!shape.gpu_type.empty() && shape.gpu_type != s.gpu_types()[to_index(type)].id) continue;
      std::int64_t gpus = 0;
      for (std::int32_t n = 0; n < static_cast<std::int32_t>(nodes_.size()); ++n) {
        const core::NodeFacts& node = s.facts().node(n);
        if (node.type == type && s.facts().refuses(job, n).empty()) gpus += std::popcount(node.existing);
      }
      most = std::max(most, gpus);
    }
  }
  return most;
}

void AdaSrsf::decide(const ClusterState& state, Plan& plan, std::vector<Rejected>& away) {
  const StateView s = state;
  const std::vector<std::uint8_t>& rejected = list_.begin(s, core::Packing::kTopology);
  // Jobs that lost GPUs are repaired from free ones first, and wait otherwise. No other job is placed before.
  const bool settled = look(s);
  for (const Waiting& one : waiting_) {
    if (rejected[to_index(one.job)] != 0 || (settled && start(s, one.job))) continue;
    const Job& job = *s.jobs()[to_index(one.job)].job;
    const std::int64_t most = most_gpus(s, job);
    if (most < job.shapes.front().gpus) {
      away.push_back({one.job, fmt::format("needs {} GPUs; those that it may use are {}", job.shapes.front().gpus, most)});
    }
  }
  const std::vector<std::string>& violations = list_.plan(s, lines_, request_, plan);
  if (!violations.empty()) throw InternalError("the plan of 'ada-srsf' is not valid: " + violations.front());
  if (!settled) plan.order_until_us = s.now() + 1;
}

}  // namespace berth::sim
