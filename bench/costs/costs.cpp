#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

#include "bench/costs/counts.hpp"
#include "bench/costs/fibers.hpp"
#include "berth/build_id.hpp"
#include "berth/kernel/ones_candidate.hpp"
#include "berth/kernel/ones_first.hpp"
#include "berth/kernel/ones_search.hpp"
#include "berth/kernel/place.hpp"
#include "berth/kernel/plus_search.hpp"
#include "host/core/cuda_abi.hpp"

/// Stands in for libberth_cuda and counts what the last generation of a search does in blocks of 128 threads: barriers, bytes, sectors.
/// The answer is the CPU's, as of a GPU that fails. docs/gpu-costs.md has what came out, and the commands:
///
///     LD_LIBRARY_PATH=build/cpu-only/costs build/cpu-only/bin/berth plan SNAPSHOT --policy ones-plus --param generations=8 --backend cuda
namespace berth::bench {
namespace {

using cuda_abi::Message;
using cuda_abi::Status;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Counts of many blocks, and the most barriers of one.
struct Phase {
  const char* name;
  Counts all{};
  std::int64_t blocks = 0, most_barriers = 0;
  std::int64_t own_in = 0, own_out = 0, mate_in = 0;  // sectors, counted for each block
  void add(const Counts& one) {
    all += one;
    ++blocks;
    most_barriers = std::max(most_barriers, one.barriers);
    own_in += static_cast<std::int64_t>(one.of[kOwn].in.size());
    own_out += static_cast<std::int64_t>(one.of[kOwn].out.size());
    mate_in += static_cast<std::int64_t>(one.of[kMate].in.size());
  }
  void print() const {
    const auto each = [&](std::int64_t n) { return static_cast<double>(n) / static_cast<double>(std::max<std::int64_t>(1, blocks)); };
    constexpr auto kBytes = static_cast<std::int64_t>(kSector);
    std::fprintf(stderr, "%-8s %5ld blocks; each: barriers %.1f (most %ld), exchanged %.0f B, loads of thread 0 %.0f\n", name, blocks,
                 each(all.barriers), most_barriers, each(all.exchanged), each(all.alone));
    for (int m = 0; m < kMemories; ++m) {
      constexpr const char* kNames[] = {"own", "mate", "workspace", "addresses", "problem"};
      const Traffic& t = all.of[m];
      if (t.loads + t.stores == 0) continue;
      std::fprintf(stderr, "         %-9s loads %.0f (%.0f B), stores %.0f (%.0f B); all blocks: sectors read %zu B, written %zu B\n",
                   kNames[m], each(t.loads), each(t.loaded), each(t.stores), each(t.stored), t.in.size() * kSector, t.out.size() * kSector);
    }
    std::fprintf(stderr, "         sectors of a block: own read %.0f B, own written %.0f B, mate read %.0f B\n", each(own_in * kBytes),
                 each(own_out * kBytes), each(mate_in * kBytes));
  }
};

/// Runs body(group) as a block and returns what it did.
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

class PlusCosts {
 public:
  PlusCosts(const kernel::PlusView& v, const kernel::PlusRequest& r)
      : v_(v), r_(r), n_(kernel::plus_individuals(r)), each_(kernel::plus_individual_bytes(v)), work_(kernel::plus_workspace_bytes(v)) {
    memory_.resize((each_ * at(n_) + work_) / sizeof(std::max_align_t) + 1);
    first_ = reinterpret_cast<std::byte*>(memory_.data());
    for (std::int32_t i = 0; i < n_; ++i) x_.push_back(kernel::carve_plus_individual(first_ + each_ * at(i), v));
    ws_ = kernel::carve_plus_workspace(first_ + each_ * at(n_), v);
  }

  void begin() {
    kernel::SerialGroup group;
    kernel::plus_begin(group, v_, r_, x_[0], ws_);
    for (std::int32_t i = 1; i < n_; ++i) kernel::plus_copy(group, v_, x_[0], x_[at(i)]);
    for (std::int32_t g = 0; g < r_.n_genes; ++g) {
      const std::int64_t gene = std::int64_t{g} * v_.n_jobs;
      kernel::plus_grow_up(group, v_, r_.gene + gene, r_.order + gene, x_[at(kernel::plus_gene_at(r_, g))], ws_);
    }
  }

  void generation(std::int32_t g) {
    kernel::SerialGroup group;
    for (std::int32_t i = 0; i < n_; ++i) {
      const std::int32_t mate = kernel::plus_mate(r_, g, i);
      if (mate >= 0) kernel::plus_cross(group, v_, r_, x_[at(mate)], x_[at(i)], ws_);
    }
    for (std::int32_t i = 0; i < n_; ++i) kernel::plus_improve(group, v_, r_, g, i, x_[at(i)], ws_);
  }

  /// The same, step by step.
  void count(std::int32_t g) {
    Phase cross{"mates"}, step{"steps"}, fill{"fill"}, improve{"improve"};
    for (std::int32_t i = 0; i < n_; ++i) {
      const std::int32_t mate = kernel::plus_mate(r_, g, i);
      if (mate < 0) continue;
      cross.add(block(ranges(i, mate), [&](auto& group) { kernel::plus_cross(group, v_, r_, x_[at(mate)], x_[at(i)], ws_); }));
    }
    for (std::int32_t i = 0; i < n_; ++i) {
      Counts all;
      // The end of entries, which threads keep to themselves between steps, goes by way of the individual.
      for (std::int32_t s = 0; s < r_.steps && v_.n_jobs > 0; ++s) {
        const Counts one = block(ranges(i, kernel::kNone), [&](auto& group) {
          kernel::PlusPlaces<CountedGroup> places(group, v_, x_[at(i)], ws_);
          kernel::PlusStep<CountedGroup>{places, r_}.run(g, i, s);
          if (group.rank() == 0) x_[at(i)].counts[0] = places.w.n_entries;
        });
        step.add(one);
        all += one;
      }
      x_[at(i)].counts[2] = 0;
      const Counts rest = block(ranges(i, kernel::kNone), [&](auto& group) {
        kernel::PlusPlaces<CountedGroup> places(group, v_, x_[at(i)], ws_);
        places.pack_entries();
        places.fill();
        places.close();
      });
      fill.add(rest);
      all += rest;
      improve.add(all);
    }
    std::fprintf(stderr, "ones-plus: %d jobs, %ld GPUs, %d individuals of %zu B, workspace %zu B, %d steps, generation %d\n", v_.n_jobs,
                 kernel::plus_gpus(v_.problem), n_, each_, work_, r_.steps, g);
    for (const Phase* phase : {&cross, &step, &fill, &improve}) phase->print();
  }

 private:
  Range piece(std::int32_t i) const { return {first_ + each_ * at(i), each_}; }
  Ranges ranges(std::int32_t own, std::int32_t mate) const {
    Ranges ranges{piece(own), {}, {first_ + each_ * at(n_), work_}, {}};
    if (mate >= 0) ranges.mate = piece(mate);
    ranges.addresses = {{this, sizeof(*this)}, {&v_, sizeof(v_)}, {&r_, sizeof(r_)}, {x_.data(), x_.size() * sizeof(x_[0])}};
    return ranges;
  }

  const kernel::PlusView& v_;
  const kernel::PlusRequest& r_;
  std::int32_t n_;
  std::size_t each_, work_;
  std::vector<std::max_align_t> memory_;
  std::byte* first_;
  std::vector<kernel::PlusIndividual> x_;
  kernel::PlusWorkspace ws_;
};

Status evolve_plans(void*, const cuda_abi::PlusTask* task, Message* message) {
  PlusCosts costs(*task->problem, *task->request);
  costs.begin();
  const std::int32_t last = task->request->generations - 1;
  for (std::int32_t g = 0; g < last; ++g) costs.generation(g);
  if (last >= 0) costs.count(last);
  std::snprintf(message->text, sizeof(message->text), "it only counts");
  return Status::kFailed;
}

/// The first generation.
Status evolve(void*, const cuda_abi::EvolveTask* task, Message* message) {
  const kernel::OnesView& v = *task->problem;
  const std::int32_t number = task->request->first_generation;
  const std::size_t jobs = at(v.n_jobs), all = at(v.population) * jobs;
  std::vector<std::int32_t> taken(at(v.slots) + 1), turns, fresh, first(all), count(all), refreshed(all);
  std::vector<std::int64_t> left(jobs), turn(jobs);
  std::vector<std::uint64_t> keys(jobs);
  kernel::OnesWorkspace ws{};
  std::vector<std::max_align_t> memory(kernel::carve_ones_workspace(nullptr, v.n_jobs, ws) / sizeof(std::max_align_t) + 1);
  kernel::carve_ones_workspace(memory.data(), v.n_jobs, ws);
  const Range work{memory.data(), memory.size() * sizeof(std::max_align_t)};
  kernel::ones_taken(v, taken.data());
  kernel::SerialGroup alone;
  for (std::int32_t i = 0; i < v.population; ++i) {
    kernel::ones_first(alone, v, i, number, keys.data(), count.data() + at(i) * jobs);
    kernel::ones_reorder(alone, v, taken.data(), count.data() + at(i) * jobs, ws, first.data() + at(i) * jobs);
  }
  for (std::int32_t j = 0; j < v.n_jobs; ++j) (v.fresh[j] != 0 ? fresh : turns).push_back(j);
  for (const std::int32_t j : turns) {
    left[at(j)] = kernel::ones_left(v, j, number);
    turn[at(j)] = kernel::ones_turn(v, j, left[at(j)]);
  }
  std::stable_sort(turns.begin(), turns.end(), [&](std::int32_t a, std::int32_t b) { return turn[at(a)] < turn[at(b)]; });
  for (std::size_t i = 0; i < all; ++i) refreshed[i] = kernel::ones_refreshed(v, static_cast<std::int32_t>(i % jobs), count[i]);

  const kernel::OnesGeneration of{number,
                                  first.data(),
                                  refreshed.data(),
                                  left.data(),
                                  turns.data(),
                                  fresh.data(),
                                  static_cast<std::int32_t>(turns.size()),
                                  static_cast<std::int32_t>(fresh.size())};
  const std::int32_t candidates = kernel::ones_candidates(v.population);
  std::vector<std::int32_t> made(at(candidates) * jobs), by_score(at(candidates));
  std::vector<std::int64_t> score(at(candidates));
  std::vector<std::uint32_t> bits(at(kernel::ones_bit_words(v.slots)));
  Phase parents{"parents"}, children{"children"}, mutants{"mutants"}, reorder{"reorder"};
  for (std::int32_t i = 0; i < candidates; ++i) {
    by_score[at(i)] = i;
    std::int32_t* const out = made.data() + at(i) * jobs;
    const std::int32_t child = i - v.population, pairs = 2 * kernel::ones_pairs(v.population);
    Phase& phase = child < 0 ? parents : child < pairs ? children : mutants;
    const Ranges ranges{{out, jobs * sizeof(*out)}, {}, {bits.data(), bits.size() * sizeof(bits[0])}, {{&v, sizeof(v)}, {&of, sizeof(of)}}};
    phase.add(block(ranges, [&](auto& group) {
      const std::int64_t sum = kernel::ones_candidate(group, v, of, i, bits.data(), out);
      if (group.rank() == 0) score[at(i)] = sum;
    }));
  }
  std::stable_sort(by_score.begin(), by_score.end(), [&](std::int32_t a, std::int32_t b) { return score[at(a)] < score[at(b)]; });
  for (std::int32_t i = 0; i < v.population; ++i) {
    std::int32_t* const from = made.data() + at(by_score[at(i)]) * jobs;
    const Ranges ranges{{from, jobs * sizeof(*from)}, {}, work, {{&v, sizeof(v)}, {&ws, sizeof(ws)}}};
    reorder.add(block(ranges, [&](auto& group) { kernel::ones_reorder(group, v, taken.data(), from, ws, first.data() + at(i) * jobs); }));
  }
  std::fprintf(stderr, "ones: %d jobs, %d GPUs, K = %d, %d candidates; own: counts, workspace: bits, or what reorder works with\n",
               v.n_jobs, v.slots, v.population, candidates);
  for (const Phase* phase : {&parents, &children, &mutants, &reorder}) phase->print();
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

Status place(void*, const kernel::ProblemView* problem, const cuda_abi::PlaceTask* tasks, std::int32_t n, Message*) {
  for (std::int32_t i = 0; i < n; ++i) {
    const cuda_abi::PlaceTask& task = tasks[i];
    std::vector<std::max_align_t> memory(kernel::place_workspace_bytes(*problem, *task.request) / sizeof(std::max_align_t) + 1);
    const kernel::PlaceWorkspace ws = kernel::carve_workspace(memory.data(), *problem, *task.request);
    kernel::SerialGroup group;
    kernel::place_in_order(group, *problem, *task.request, task.taken, task.n_taken, ws, task.result);
  }
  return Status::kOk;
}

Status score(void*, const kernel::ScoreTableView*, kernel::AskBest*, Message*) { return Status::kOutOfMemory; }
Status choose(void*, const cuda_abi::ChooseTask*, std::int32_t, Message*) { return Status::kOutOfMemory; }

}  // namespace
}  // namespace berth::bench

extern "C" __attribute__((visibility("default"))) const berth::cuda_abi::Table* berth_cuda_table() {
  namespace bench = berth::bench;
  static constexpr berth::cuda_abi::Table kTable{BERTH_BUILD_ID, bench::list,   bench::open,   bench::close,       bench::place,
                                                 bench::score,   bench::choose, bench::evolve, bench::evolve_plans};
  return &kTable;
}
