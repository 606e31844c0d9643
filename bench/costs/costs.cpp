#include <algorithm>
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

#include "bench/costs/counts.hpp"
#include "bench/costs/fibers.hpp"
#include "berth/build_id.hpp"
#include "berth/kernel/delay_replay/delay_replay.hpp"
#include "berth/kernel/ones/candidate.hpp"
#include "berth/kernel/ones/first.hpp"
#include "berth/kernel/ones/ones.hpp"
#include "berth/kernel/place/place.hpp"
#include "berth/kernel/plan_search/plan_search.hpp"
#include "berth/kernel/price/price.hpp"
#include "berth/kernel/replay/replay.hpp"
#include "host/backend/cuda_abi.hpp"

/// Replaces libberth_cuda and counts what the last generation of a search, or the first of several passes, choices or
/// replays, does in groups of 32 or 128 threads: barriers, bytes, sectors. The result is the CPU's, as after a GPU failure.
/// docs/gpu-costs.md has the results, and the commands:
///
///     LD_LIBRARY_PATH=build/cpu-only/costs build/cpu-only/bin/berth plan SNAPSHOT --policy ones-plus --param
/// generations=8 --backend cuda
namespace berth::bench {
namespace {

using cuda_abi::Message;
using cuda_abi::Status;

std::size_t to_index(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Counts of many blocks, and the largest number of barriers of one.
struct Phase {
  const char* name;
  Counts all{};
  std::int64_t blocks = 0, most_barriers = 0;
  std::int64_t own_in = 0, own_out = 0, parent_in = 0;  // sectors, counted for each block
  void add(const Counts& one) {
    all += one;
    ++blocks;
    most_barriers = std::max(most_barriers, one.barriers);
    own_in += static_cast<std::int64_t>(one.of[kOwn].in.size());
    own_out += static_cast<std::int64_t>(one.of[kOwn].out.size());
    parent_in += static_cast<std::int64_t>(one.of[kParent].in.size());
  }
  void print() const {
    const auto each = [&](std::int64_t n) { return static_cast<double>(n) / static_cast<double>(std::max<std::int64_t>(1, blocks)); };
    constexpr auto kBytes = static_cast<std::int64_t>(kSector);
    std::fprintf(stderr,
                 "%-8s %5ld blocks; each: barriers %.1f (most %ld), exchanged %.0f B, loads of thread 0 %.0f, %.0f without addresses\n",
                 name, blocks, each(all.barriers), most_barriers, each(all.exchanged), each(all.alone), each(all.alone_memory));
    for (int m = 0; m < kMemories; ++m) {
      constexpr const char* kNames[] = {"own", "partner", "workspace", "addresses", "problem"};
      const Traffic& t = all.of[m];
      if (t.loads + t.stores == 0) continue;
      std::fprintf(stderr, "         %-9s loads %.0f (%.0f B), stores %.0f (%.0f B); all blocks: sectors read %zu B, written %zu B\n",
                   kNames[m], each(t.loads), each(t.loaded), each(t.stores), each(t.stored), t.in.size() * kSector, t.out.size() * kSector);
    }
    std::fprintf(stderr, "         sectors of a block: own read %.0f B, own written %.0f B, parent read %.0f B\n", each(own_in * kBytes),
                 each(own_out * kBytes), each(parent_in * kBytes));
  }
};

/// Runs body(group) as a block and returns its counts.
template <class Body>
Counts block(const Ranges& ranges, const Body& body) {
  Counts counts;
  const std::function<void(std::int32_t)> one = [&](std::int32_t rank) {
    CountedGroup group(rank);
    body(group);
  };
  count_into(&counts, ranges);
  run_fibers(one);
  count_into(nullptr, {});
  return counts;
}

class PlanSearchCosts {
 public:
  PlanSearchCosts(const kernel::PlanSearchView& v, const kernel::PlanSearchRequest& r)
      : v_(v),
        r_(r),
        n_(kernel::plan_search_individuals(r)),
        each_(kernel::plan_search_individual_bytes(v)),
        work_(kernel::plan_search_workspace_bytes(v)) {
    memory_.resize((each_ * to_index(n_) + work_) / sizeof(std::max_align_t) + 1);
    first_ = reinterpret_cast<std::byte*>(memory_.data());
    for (std::int32_t i = 0; i < n_; ++i) x_.push_back(kernel::carve_plan_search_individual(first_ + each_ * to_index(i), v));
    ws_ = kernel::carve_plan_search_workspace(first_ + each_ * to_index(n_), v);
  }

  void begin() {
    kernel::SerialGroup group;
    kernel::plan_search_begin(group, v_, r_, x_[0], ws_);
    for (std::int32_t i = 1; i < n_; ++i) kernel::plan_search_copy(group, v_, x_[0], x_[to_index(i)]);
    for (std::int32_t g = 0; g < r_.n_starts; ++g) {
      const std::int64_t start = std::int64_t{g} * v_.n_jobs;
      kernel::plan_search_initialise(group, v_, r_.start_option + start, r_.start_order + start,
                                     x_[to_index(kernel::plan_search_start_at(r_, g))], ws_);
    }
  }

  void generation(std::int32_t g) {
    kernel::SerialGroup group;
    for (std::int32_t i = 0; i < n_; ++i) {
      const std::int32_t parent = kernel::plan_search_crossover(r_, g, i);
      if (parent >= 0) kernel::plan_search_offspring(group, v_, r_, x_[to_index(parent)], x_[to_index(i)], ws_);
    }
    for (std::int32_t i = 0; i < n_; ++i) kernel::plan_search_improve(group, v_, r_, g, i, x_[to_index(i)], ws_);
  }

  /// The same, step by step.
  void count(std::int32_t g) {
    Phase cross{"crossover"}, step{"steps"}, fill{"fill"}, improve{"improve"};
    for (std::int32_t i = 0; i < n_; ++i) {
      const std::int32_t parent = kernel::plan_search_crossover(r_, g, i);
      if (parent < 0) continue;
      cross.add(block(ranges(i, parent),
                      [&](auto& group) { kernel::plan_search_offspring(group, v_, r_, x_[to_index(parent)], x_[to_index(i)], ws_); }));
    }
    for (std::int32_t i = 0; i < n_; ++i) {
      Counts all;
      // The end of entries, which threads keep private between steps, is passed through the individual.
      for (std::int32_t s = 0; s < r_.steps && v_.n_jobs > 0; ++s) {
        const Counts one = block(ranges(i, kernel::kNone), [&](auto& group) {
          kernel::PlanSearchPlaces<CountedGroup> places(group, v_, x_[to_index(i)], ws_);
          kernel::PlanSearchStep<CountedGroup>{places, r_}.run(g, i, s);
          if (group.rank() == 0) x_[to_index(i)].counts[0] = places.w.n_entries;
        });
        step.add(one);
        all += one;
      }
      x_[to_index(i)].counts[2] = 0;
      const Counts rest = block(ranges(i, kernel::kNone), [&](auto& group) {
        kernel::PlanSearchPlaces<CountedGroup> places(group, v_, x_[to_index(i)], ws_);
        places.pack_entries();
        places.fill();
        places.close();
      });
      fill.add(rest);
      all += rest;
      improve.add(all);
    }
    std::fprintf(stderr, "ones-plus: %d jobs, %ld GPUs, %d individuals of %zu B, workspace %zu B, %d steps, generation %d\n", v_.n_jobs,
                 kernel::plan_search_gpus(v_.problem), n_, each_, work_, r_.steps, g);
    for (const Phase* phase : {&cross, &step, &fill, &improve}) phase->print();
  }

 private:
  Range piece(std::int32_t i) const { return {first_ + each_ * to_index(i), each_}; }
  Ranges ranges(std::int32_t own, std::int32_t parent) const {
    Ranges ranges{piece(own), {}, {first_ + each_ * to_index(n_), work_}, {}};
    if (parent >= 0) ranges.parent = piece(parent);
    ranges.addresses = {{this, sizeof(*this)}, {&v_, sizeof(v_)}, {&r_, sizeof(r_)}, {x_.data(), x_.size() * sizeof(x_[0])}};
    return ranges;
  }

  const kernel::PlanSearchView& v_;
  const kernel::PlanSearchRequest& r_;
  std::int32_t n_;
  std::size_t each_, work_;
  std::vector<std::max_align_t> memory_;
  std::byte* first_;
  std::vector<kernel::PlanSearchIndividual> x_;
  kernel::PlanSearchWorkspace ws_;
};

Status plan_search(void*, const cuda_abi::AbiPlanSearchTask* task, Message* message) {
  PlanSearchCosts costs(*task->problem, *task->request);
  costs.begin();
  const std::int32_t last = task->request->generations - 1;
  for (std::int32_t g = 0; g < last; ++g) costs.generation(g);
  if (last >= 0) costs.count(last);
  std::snprintf(message->text, sizeof(message->text), "it only counts");
  return Status::kFailed;
}

/// The first generation.
Status evolve(void*, const cuda_abi::AbiOnesTask* task, Message* message) {
  const kernel::OnesView& v = *task->problem;
  const std::int32_t number = task->request->first_generation;
  const std::size_t jobs = to_index(v.n_jobs), all = to_index(v.population) * jobs;
  std::vector<std::int32_t> taken(to_index(v.n_gpus) + 1), by_home(jobs), fill_order, fresh, first(all), count(all), refreshed(all);
  std::vector<std::int64_t> left(jobs), fill_key(jobs);
  std::vector<std::uint64_t> keys(jobs);
  kernel::OnesWorkspace ws{};
  std::vector<std::max_align_t> memory(kernel::carve_ones_workspace(nullptr, v.n_jobs, ws) / sizeof(std::max_align_t) + 1);
  kernel::carve_ones_workspace(memory.data(), v.n_jobs, ws);
  const Range work{memory.data(), memory.size() * sizeof(std::max_align_t)};
  const kernel::OnesDeployed deployed = kernel::ones_deployed(v, taken.data(), by_home.data());
  kernel::SerialGroup alone;
  for (std::int32_t i = 0; i < v.population; ++i) {
    kernel::ones_first(alone, v, i, number, keys.data(), count.data() + to_index(i) * jobs);
    kernel::ones_reorder(alone, v, deployed, count.data() + to_index(i) * jobs, ws, first.data() + to_index(i) * jobs);
  }
  for (std::int32_t j = 0; j < v.n_jobs; ++j) (v.fresh[j] != 0 ? fresh : fill_order).push_back(j);
  for (const std::int32_t j : fill_order) {
    left[to_index(j)] = kernel::ones_left(v, j, number);
    fill_key[to_index(j)] = kernel::ones_fill_key(v, j, left[to_index(j)]);
  }
  std::stable_sort(fill_order.begin(), fill_order.end(),
                   [&](std::int32_t a, std::int32_t b) { return fill_key[to_index(a)] < fill_key[to_index(b)]; });
  for (std::size_t i = 0; i < all; ++i) refreshed[i] = kernel::ones_refreshed(v, static_cast<std::int32_t>(i % jobs), count[i]);

  const kernel::OnesGeneration of{number,
                                  first.data(),
                                  refreshed.data(),
                                  left.data(),
                                  fill_order.data(),
                                  fresh.data(),
                                  static_cast<std::int32_t>(fill_order.size()),
                                  static_cast<std::int32_t>(fresh.size())};
  const std::int32_t candidates = kernel::ones_candidates(v.population);
  std::vector<std::int32_t> made(to_index(candidates) * jobs), by_score(to_index(candidates));
  std::vector<std::int64_t> score(to_index(candidates));
  std::vector<std::uint32_t> bits(to_index(kernel::ones_bit_words(v.n_gpus)));
  Phase parents{"parents"}, offspring{"offspring"}, mutants{"mutants"}, reorder{"reorder"};
  for (std::int32_t i = 0; i < candidates; ++i) {
    by_score[to_index(i)] = i;
    std::int32_t* const out = made.data() + to_index(i) * jobs;
    const std::int32_t offspring_index = i - v.population, pairs = 2 * kernel::ones_pairs(v.population);
    Phase& phase = offspring_index < 0 ? parents : offspring_index < pairs ? offspring : mutants;
    const Ranges ranges{{out, jobs * sizeof(*out)}, {}, {bits.data(), bits.size() * sizeof(bits[0])}, {{&v, sizeof(v)}, {&of, sizeof(of)}}};
    phase.add(block(ranges, [&](auto& group) {
      const std::int64_t sum = kernel::ones_candidate(group, v, of, i, bits.data(), out);
      if (group.rank() == 0) score[to_index(i)] = sum;
    }));
  }
  std::stable_sort(by_score.begin(), by_score.end(),
                   [&](std::int32_t a, std::int32_t b) { return score[to_index(a)] < score[to_index(b)]; });
  for (std::int32_t i = 0; i < v.population; ++i) {
    std::int32_t* const from = made.data() + to_index(by_score[to_index(i)]) * jobs;
    const Ranges ranges{{from, jobs * sizeof(*from)}, {}, work, {{&v, sizeof(v)}, {&ws, sizeof(ws)}, {&deployed, sizeof(deployed)}}};
    reorder.add(block(ranges, [&](auto& group) { kernel::ones_reorder(group, v, deployed, from, ws, first.data() + to_index(i) * jobs); }));
  }
  std::fprintf(stderr, "ones: %d jobs, %d GPUs, K = %d, %d candidates; own: counts, workspace: bits, or what reorder works with\n",
               v.n_jobs, v.n_gpus, v.population, candidates);
  for (const Phase* phase : {&parents, &offspring, &mutants, &reorder}) phase->print();
  std::snprintf(message->text, sizeof(message->text), "it only counts");
  return Status::kFailed;
}

Status list(cuda_abi::DeviceRow* rows, std::int32_t most, std::int32_t* n, Message*) {
  *n = most < 1 ? 0 : 1;
  if (*n == 0) return Status::kOk;
  rows[0] = {};
  std::snprintf(rows[0].name, sizeof(rows[0].name), "counts only");
  rows[0].major = 9;
  rows[0].usable = 1;
  return Status::kOk;
}

Status open(std::int32_t, void** context, Message*) {
  static int opened;
  *context = &opened;
  return Status::kOk;
}

void close(void*) {}

/// Counts a group that has `bytes` of memory of its own. @param run  run(group, memory)
template <class Run>
void count_group(const char* name, std::size_t bytes, std::vector<Range> addresses, const Run& run) {
  std::vector<std::max_align_t> memory(bytes / sizeof(std::max_align_t) + 1);
  Phase phase{name};
  phase.add(block(Ranges{{}, {}, {memory.data(), bytes}, std::move(addresses)}, [&](auto& group) { run(group, memory.data()); }));
  std::fprintf(stderr, "%s: workspace %zu B, %d threads\n", name, bytes, group_threads());
  phase.print();
}

/// Of several passes the first is counted.
Status place(void*, const kernel::ProblemView* problem, const cuda_abi::AbiPlaceTask* tasks, std::int32_t n, Message* message) {
  const auto run = [&](auto& group, const cuda_abi::AbiPlaceTask& task, void* memory) {
    const kernel::PlaceWorkspace ws = kernel::carve_workspace(static_cast<std::byte*>(memory), *problem, *task.request);
    kernel::place(group, *problem, *task.request, task.taken, task.n_taken, ws, task.result);
  };
  if (n > 1) {
    count_group("place", static_cast<std::size_t>(kernel::place_workspace_bytes(*problem, *tasks[0].request)),
                {{problem, sizeof(*problem)}, {tasks[0].request, sizeof(*tasks[0].request)}},
                [&](auto& group, void* memory) { run(group, tasks[0], memory); });
    std::snprintf(message->text, sizeof(message->text), "it only counts");
    return Status::kFailed;
  }
  std::vector<std::max_align_t> memory(kernel::place_workspace_bytes(*problem, *tasks[0].request) / sizeof(std::max_align_t) + 1);
  kernel::SerialGroup group;
  run(group, tasks[0], memory.data());
  return Status::kOk;
}

Status score(void*, const kernel::ScoreTableView*, kernel::BestPlace*, Message*) { return Status::kOutOfMemory; }

/// The first choice.
Status choose(void*, const cuda_abi::AbiPriceTask* tasks, std::int32_t, Message* message) {
  const cuda_abi::AbiPriceTask& task = tasks[0];
  const kernel::PriceView& v = *task.problem;
  kernel::PriceWorkspace ws{};
  count_group("price", kernel::carve_price_workspace(nullptr, v.n_jobs, v.n_types, ws),
              {{&v, sizeof(v)}, {task.request, sizeof(*task.request)}, {&ws, sizeof(ws)}}, [&](auto& group, void* memory) {
                if (group.rank() == 0) kernel::carve_price_workspace(memory, v.n_jobs, v.n_types, ws);
                group.sync();
                kernel::price(group, v, *task.request, ws, task.result);
              });
  std::snprintf(message->text, sizeof(message->text), "it only counts");
  return Status::kFailed;
}

/// The first replay.
Status replay(void*, const kernel::ReplayView* problem, const cuda_abi::AbiReplayTask* tasks, std::int32_t, Message* message) {
  const kernel::ReplayView& v = *problem;
  const kernel::ReplayRequest& r = *tasks[0].request;
  const bool displaces = r.kind != kernel::ReplayKey::kFixed;
  kernel::ReplayWorkspace ws{};
  count_group("replay", kernel::carve_replay_workspace(nullptr, v, kernel::gpus_of(v, r), displaces, ws),
              {{&v, sizeof(v)}, {&r, sizeof(r)}, {&ws, sizeof(ws)}}, [&](auto& group, void* memory) {
                if (group.rank() == 0) kernel::carve_replay_workspace(memory, v, kernel::gpus_of(v, r), displaces, ws);
                group.sync();
                kernel::replay(group, v, r, ws, tasks[0].result);
              });
  std::fprintf(stderr, "%d jobs, %ld decisions, %ld preemptions\n", v.n_jobs, tasks[0].result.totals->decisions,
               tasks[0].result.totals->preemptions);
  std::snprintf(message->text, sizeof(message->text), "it only counts");
  return Status::kFailed;
}

/// The first replay with delay timers.
Status delay_replay(void*, const kernel::DelayReplayView* problem, const cuda_abi::AbiDelayReplayTask* tasks, std::int32_t,
                    Message* message) {
  const kernel::DelayReplayView& v = *problem;
  const kernel::DelayReplayRequest& r = *tasks[0].request;
  kernel::DelayReplayWorkspace ws{};
  const std::int64_t gpus = kernel::gpus_of(v);
  count_group("delay_replay", kernel::carve_delay_workspace(nullptr, v, gpus, ws), {{&v, sizeof(v)}, {&r, sizeof(r)}, {&ws, sizeof(ws)}},
              [&](auto& group, void* memory) {
                if (group.rank() == 0) kernel::carve_delay_workspace(memory, v, gpus, ws);
                group.sync();
                kernel::delay_replay(group, v, r, ws, tasks[0].result);
              });
  std::fprintf(stderr, "%d jobs, %ld decisions, %ld preemptions\n", v.n_jobs, tasks[0].result.totals->decisions,
               tasks[0].result.totals->preemptions);
  std::snprintf(message->text, sizeof(message->text), "it only counts");
  return Status::kFailed;
}

Status contend(void*, const kernel::ContendView*, const kernel::ContendRequest*, const kernel::ContendResult*, Message*) {
  return Status::kOutOfMemory;
}

Status victims(void*, const kernel::ProblemView*, const kernel::VictimsRequest*, const kernel::VictimsResult*, Message*) {
  return Status::kOutOfMemory;
}

}  // namespace
}  // namespace berth::bench

extern "C" __attribute__((visibility("default"))) const berth::cuda_abi::Table* berth_cuda_table() {
  namespace bench = berth::bench;
  static constexpr berth::cuda_abi::Table kTable{BERTH_BUILD_ID,      bench::list,    bench::open,   bench::close,       bench::place,
                                                 bench::score,        bench::choose,  bench::evolve, bench::plan_search, bench::replay,
                                                 bench::delay_replay, bench::contend, bench::victims};
  return &kTable;
}
