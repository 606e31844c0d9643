#include "host/sim/generate/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "berth/error.hpp"
#include "host/sim/base/random.hpp"
#include "host/sim/generate/synthetic_placement.hpp"
#include "host/sim/generate/user_population.hpp"

namespace berth::sim {
namespace {

constexpr std::array kWorkloadNames{"philly", "helios", "pai", "llm", "ones", "dally", "dally-gangs"};
constexpr std::array kFabricNames{"auto", "tree", "nvl72", "rail"};

constexpr TimeUs kNow = 60LL * 24 * 3600 * kSecond;  // later than the longest job and wait of any table
constexpr std::int32_t kJobsPerGone = 12;            // number of placed jobs per job that has come and gone

void in_range(const char* option, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  throw InvalidArgument(fmt::format("{}: {} is not within {}..{}", option, value, least, most));
}

void check(const GenerateOptions& o) {
  in_range("nodes", o.nodes, 1, 1'000'000);
  in_range("gpus_per_node", o.gpus_per_node, 1, kMaxGpusPerNode);
  in_range("jobs", o.jobs, 0, 5'000'000);
  in_range("waiting_ppm", o.waiting_ppm, 0, 1'000'000);
  in_range("nodes_per_rack", o.nodes_per_rack, 0, o.nodes > 4096 ? o.nodes : 4096);
  in_range("racks_per_pod", o.racks_per_pod, 0, 1'000'000);
  in_range("queues", o.queues, 0, 64);
  in_range("virtual_clusters", o.virtual_clusters, 0, 64);
  in_range("history", o.history, -1, 5'000'000);
  in_range("outage_ppm", o.outage_ppm, 0, 1'000'000);
  in_range("spare_ppm", o.spare_ppm, 0, 1'000'000);
  if (o.outage_ppm + o.spare_ppm > 1'000'000) throw InvalidArgument("outage and spare are parts of all nodes, and add up to more than 1");
}

// A job that the generator is building.
struct Draft {
  Job job;
  UserPopulation::Owner owner;
  std::int32_t gpus;
  bool endless;
  bool too_wide;  // requests more cores per GPU than nodes have; such jobs keep waiting
  std::int32_t epoch_size;
};

class Generator {
 public:
  explicit Generator(const GenerateOptions& options)
      : o_(options),
        model_(model_of(options.workload)),
        layout_(build_layout(options)),
        users_(options, layout_),
        placement_(layout_),
        queue_used_(static_cast<std::size_t>(options.queues), 0) {}

  Snapshot run() {
    Snapshot s;
    s.name = fmt::format("generated: {} nodes x {} GPUs, {} jobs, {}{}, seed {}", o_.nodes, o_.gpus_per_node, o_.jobs, name(o_.workload),
                         o_.elastic ? ", elastic" : "", o_.seed);
    s.now_us = kNow;
    add_history(s);
    const auto most_running = static_cast<std::int32_t>(std::int64_t{o_.jobs} * (1'000'000 - o_.waiting_ppm) / 1'000'000);
    s.jobs.reserve(static_cast<std::size_t>(o_.jobs));
    for (std::int32_t j = 0; j < o_.jobs; ++j) {
      Draft draft = draw(RandomStream::kJob, static_cast<std::uint64_t>(j));
      draft.job.id = fmt::format("job{:06}", j);
      if (running_ < most_running) start(draft);
      time(draft, static_cast<std::uint64_t>(j));
      s.jobs.push_back(std::move(draft.job));
    }
    s.gpu_types = std::move(layout_.gpu_types);
    s.domains = std::move(layout_.domains);
    s.nodes = std::move(layout_.nodes);
    s.queues = users_.queues();
    return s;
  }

 private:
  Demand draw_demand(ItemDraws& draws) const {
    if (o_.workload == Workload::kLlm) return draw_llm(layout_, o_, draws);
    if (o_.workload == Workload::kOnes) return draw_ones(layout_, o_, draws);
    if (is_dally(o_.workload)) return draw_dally(layout_, o_, draws);
    return draw_gang(model_, layout_, o_, draws);
  }

  void add_history(Snapshot& s) {
    const std::int32_t count = o_.history >= 0 ? o_.history : std::min(o_.jobs, 2000);
    for (std::int32_t h = 0; h < count; ++h) {
      ItemDraws draws(o_.seed, RandomStream::kHistory, static_cast<std::uint64_t>(h));
      const UserPopulation::Owner owner = users_.draw(draws);
      const Demand demand = draw_demand(draws);
      const int kind = size_class(demand.gpus);
      FinishedJob done;
      done.id = fmt::format("done{:06}", h);
      done.user = users_.user_name(owner.user);
      if (owner.virtual_cluster >= 0) done.virtual_cluster = virtual_cluster_name(owner.virtual_cluster);
      done.gpus = demand.gpus;
      done.run_us = std::max<TimeUs>(kSecond, draw_duration(model_.run[static_cast<std::size_t>(kind)], draws));
      done.submit_us = draws.below((kNow - done.run_us) / kSecond) * kSecond;
      const std::int64_t end = draws.below(1'000'000);
      done.status = end < model_.completed_ppm ? "completed" : end < model_.completed_ppm + model_.cancelled_ppm ? "cancelled" : "failed";
      if (!demand.endless) users_.remember(owner.user, kind, done.run_us);
      s.history.push_back(std::move(done));
    }
    users_.sort_memory();
  }

  Draft draw(RandomStream stream, std::uint64_t item) {
    ItemDraws draws(o_.seed, stream, item);
    Draft draft{};
    draft.owner = users_.draw(draws);
    Demand demand = draw_demand(draws);
    draft.gpus = demand.gpus;
    draft.endless = demand.endless;
    draft.epoch_size = demand.epoch_size;
    Job& job = draft.job;
    job.user = users_.user_name(draft.owner.user);
    if (draft.owner.queue >= 0) job.queue = job.tenant = users_.queue_name(draft.owner.queue);
    if (draft.owner.virtual_cluster >= 0) job.virtual_cluster = virtual_cluster_name(draft.owner.virtual_cluster);
    job.kind = demand.kind;
    job.shapes = std::move(demand.shapes);
    job.profile = std::move(demand.profile);
    job.sharing = job.shapes.front().share_ppm != kWholeGpu;
    set_rank(job, draws);
    set_constraints(draft, draws);
    return draft;
  }

  void set_rank(Job& job, ItemDraws& draws) const {
    const std::int64_t rank = draws.below(100);
    const std::int32_t steps = job.kind == JobKind::kService ? 2 : rank < 75 ? 0 : rank < 95 ? 1 : 2;
    job.priority = steps * 10;
    job.preemption.preemption_class = steps;
    job.preemption.preemptible = job.kind != JobKind::kService;
    job.preemption.minimum_run_us = 600 * kSecond;
    job.preemption.grace_us = 30 * kSecond;
    job.costs.restart_us = 60 * kSecond;
    job.costs.checkpoint_every_us = 1800 * kSecond;
    job.costs.checkpoint_save_us = 20 * kSecond;
    job.costs.checkpoint_restore_us = 40 * kSecond;
    job.costs.scale_us = 30 * kSecond;
    job.costs.migrate_us = 60 * kSecond;
  }

  // A small random fraction of the jobs, selected by `pick`, requires one of several GPU types, local flash or a large GPU memory.
  void set_constraints(Draft& draft, ItemDraws& draws) const {
    Job& job = draft.job;
    const bool wants_type = draws.chance(300'000), wants_disk = draws.chance(60'000), wants_memory = draws.chance(200'000);
    const std::int64_t type = draws.below(static_cast<std::int64_t>(layout_.gpu_types.size()));
    const std::int64_t cores = draws.below(100), memory = draws.below(3);
    if (wants_type && layout_.gpu_types.size() > 1) {
      for (Shape& shape : job.shapes) shape.gpu_type = layout_.gpu_types[static_cast<std::size_t>(type)].id;
    }
    if (o_.labels && wants_disk) job.constraints.labels.emplace_back("disk", std::vector<std::string>{kDisks[1]});
    if (!o_.demands) return;
    // Per GPU a quarter, half or all of what a node has; two percent of the jobs request more cores than that.
    // A share requests its fraction, so that any mix of shares fits on a node.
    const std::int64_t part = job.shapes.front().share_ppm;
    draft.too_wide = cores >= 98 && part == kWholeGpu;
    const std::int64_t cpu = draft.too_wide ? kCpuMilliPerGpu * 3 / 2
                             : cores < 40   ? kCpuMilliPerGpu / 4
                             : cores < 80   ? kCpuMilliPerGpu / 2
                                            : kCpuMilliPerGpu;
    job.constraints.cpu_milli_per_gpu = cpu * part / kWholeGpu;
    job.constraints.memory_bytes_per_gpu = (kMemoryPerGpu >> (2 - memory)) * part / kWholeGpu;
    const std::int64_t gpu_memory = layout_.least_gpu_memory() * part / kWholeGpu;
    if (job.sharing || wants_memory) job.constraints.gpu_memory_bytes = gpu_memory / 2;
  }

  std::vector<std::uint8_t> pools_for(const Job& job, const UserPopulation::Owner& owner) const {
    std::vector<std::uint8_t> ok;
    for (const Pool& pool : layout_.pools) {
      const bool cluster = pool.virtual_cluster < 0 || pool.virtual_cluster == owner.virtual_cluster;
      ok.push_back(cluster && (job.constraints.labels.empty() || pool.disk == 1));
    }
    return ok;
  }

  bool place(Draft& draft, std::vector<SyntheticPlacement::Taken>& taken) {
    return !draft.too_wide && placement_.place(draft.job.shapes.front(), pools_for(draft.job, draft.owner), draft.job.allocation, taken);
  }

  void start(Draft& draft) {
    std::int64_t held = 0;
    for (const Group& group : draft.job.shapes.front().groups) {
      held += std::int64_t{group.members_want + group.spares} * group.gpus_per_member;
    }
    if (draft.job.shapes.front().groups.empty()) held = draft.gpus;
    const auto queue = static_cast<std::size_t>(std::max(0, draft.owner.queue));
    if (draft.owner.queue >= 0 && queue_used_[queue] + held > users_.limit(draft.owner.queue)) return;
    std::vector<SyntheticPlacement::Taken> taken;
    if (!place(draft, taken)) return;
    draft.job.state = JobState::kRunning;
    if (draft.owner.queue >= 0) queue_used_[queue] += held;
    ++running_;
    come_and_go();
  }

  // Jobs that came and went between the others leave holes, as in a used cluster.
  void come_and_go() {
    if (running_ % kJobsPerGone != 0) return;
    if (gone_.size() >= 4) {
      placement_.leave(gone_.front());
      gone_.erase(gone_.begin());
    }
    Draft draft = draw(RandomStream::kGone, static_cast<std::uint64_t>(running_));
    std::vector<SyntheticPlacement::Taken> taken;
    if (place(draft, taken)) gone_.push_back(std::move(taken));
  }

  void time(Draft& draft, std::uint64_t item) {
    ItemDraws draws(o_.seed, RandomStream::kTiming, item);
    Job& job = draft.job;
    const auto table = model_.run[static_cast<std::size_t>(size_class(draft.gpus))];
    TimeUs elapsed = 0;
    TimeUs waited = 0;
    if (job.state == JobState::kRunning) {
      // The job is seen at a random instant of its life.
      const TimeUs run = std::max<TimeUs>(2 * kSecond, draw_met_duration(table, draws));
      elapsed = draws.below(run / 1000) * 1000;
      waited = draw_duration(model_.wait, draws);
    } else {
      waited = std::max<TimeUs>(kSecond, draw_met_duration(model_.wait, draws));
      waited = draws.below(waited / 1000) * 1000;
    }
    job.submit_us = kNow - elapsed - waited;
    if (!draft.endless) {
      job.estimate = users_.expect(draft.owner.user, size_class(draft.gpus), elapsed, table);
      if (job.estimate.run_us == elapsed) job.estimate.run_us = elapsed + kSecond;
      if (draws.chance(100'000)) {
        job.deadline.at_us = job.submit_us + job.estimate.run_us * (2 + draws.below(4));
        job.deadline.hard = draws.chance(300'000);
        job.deadline.value = draft.gpus;
      }
    }
    if (job.profile.kind == ProfileKind::kTable && job.estimate.run_us != kNever) {
      // The work that the estimate states, at the rate of the requested shape.
      for (const RatePoint& point : job.profile.points) {
        if (point.gpus != draft.gpus) continue;
        job.progress.work_total = work(point.rate, job.estimate.run_us);
        job.progress.work_done = work(point.rate, elapsed);
      }
    }
    if (job.state != JobState::kRunning) return;
    if (draft.epoch_size > 0) {  // the unit of its profile is a sample
      job.progress.dataset_size = draft.epoch_size;
      job.progress.samples_done = job.progress.work_done / 1'000'000;
      job.progress.epochs_done_micro = job.progress.work_done / draft.epoch_size;
    }
    job.progress.run_us = elapsed;
    std::int64_t gpus = 0;
    for (const AllocationEntry& entry : job.allocation.entries) gpus += static_cast<std::int64_t>(entry.gpus.size());
    job.progress.attained_gpu_us = elapsed * gpus / 1000 * job.shapes.front().share_ppm / 1000;
    job.last_assignment_us = kNow - elapsed;
  }

  // rate * time, in millionths of the unit.
  static std::int64_t work(std::int64_t rate, TimeUs time) {
    return static_cast<std::int64_t>(static_cast<__int128>(rate) * time / kSecond);
  }

  const GenerateOptions& o_;
  const WorkloadModel& model_;
  ClusterLayout layout_;
  UserPopulation users_;
  SyntheticPlacement placement_;
  std::vector<std::int64_t> queue_used_;
  std::int32_t running_ = 0;
  std::vector<std::vector<SyntheticPlacement::Taken>> gone_;
};

}  // namespace

std::string_view name(Workload workload) { return kWorkloadNames.at(static_cast<std::size_t>(workload)); }
std::string_view name(Fabric fabric) { return kFabricNames.at(static_cast<std::size_t>(fabric)); }

std::optional<Workload> workload_from_name(std::string_view text) {
  for (std::size_t i = 0; i < kWorkloadNames.size(); ++i) {
    if (text == kWorkloadNames[i]) return static_cast<Workload>(i);
  }
  return std::nullopt;
}

std::optional<Fabric> fabric_from_name(std::string_view text) {
  for (std::size_t i = 0; i < kFabricNames.size(); ++i) {
    if (text == kFabricNames[i]) return static_cast<Fabric>(i);
  }
  return std::nullopt;
}

Snapshot generate(const GenerateOptions& options) {
  check(options);
  return Generator(options).run();
}

}  // namespace berth::sim
