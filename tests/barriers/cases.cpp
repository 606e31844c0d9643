// Compiled with calls at every load and store (race_check.hpp): the bodies must be in this file and in no other.
#include "tests/barriers/cases.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "berth/kernel/contend/dense.hpp"
#include "berth/kernel/contend/loads.hpp"
#include "berth/kernel/contend/pairs.hpp"
#include "berth/kernel/delay_replay/delay_replay.hpp"
#include "berth/kernel/ones/candidate.hpp"
#include "berth/kernel/ones/first.hpp"
#include "berth/kernel/ones/ones.hpp"
#include "berth/kernel/place/place.hpp"
#include "berth/kernel/plan_search/plan_search.hpp"
#include "berth/kernel/price/price.hpp"
#include "berth/kernel/replay/replay.hpp"
#include "berth/kernel/score/score.hpp"
#include "berth/kernel/victims/victims.hpp"
#include "host/cpu/score_table.hpp"
#include "tests/support/contend/random_contend.hpp"
#include "tests/support/delays/random_delay_replay.hpp"
#include "tests/support/random_choice.hpp"
#include "tests/support/random_ones.hpp"
#include "tests/support/random_plan_search.hpp"
#include "tests/support/random_problem.hpp"
#include "tests/support/random_replay.hpp"
#include "tests/support/result_buffers.hpp"
#include "tests/support/victims/random_victims.hpp"

namespace berth::test {
namespace {

using Body = std::function<void(FiberGroup&)>;

std::vector<std::max_align_t> memory_of(std::size_t bytes) { return std::vector<std::max_align_t>(bytes / sizeof(std::max_align_t) + 1); }

Body place_body(Problem problem, PassCase pass) {
  struct Data {
    Problem problem;
    PassCase pass;
    ResultBuffers got;
    std::vector<std::max_align_t> memory;
    kernel::ProblemView view;
    core::PlaceTask task;
    kernel::PlaceWorkspace workspace;
    kernel::PlaceResult result;
  };
  ResultBuffers buffers(problem, pass);
  auto data = std::make_shared<Data>(Data{std::move(problem), std::move(pass), std::move(buffers), {}, {}, {}, {}, {}});
  data->view = data->problem.view();
  data->task = data->pass.view();
  data->memory = memory_of(static_cast<std::size_t>(kernel::place_workspace_bytes(data->view, data->task.request)));
  data->workspace = kernel::carve_workspace(data->memory.data(), data->view, data->task.request);
  data->result = data->got.view();
  return [data](FiberGroup& group) {
    kernel::place(group, data->view, data->task.request, data->task.taken.data(), static_cast<std::int32_t>(data->task.taken.size()),
                  data->workspace, data->result);
  };
}

Body random_place_body(std::uint64_t seed, bool conservative) {
  constexpr std::int32_t kNodes[] = {1, 3, 12, 31, 33, 64, 65, 130};
  constexpr std::int32_t kJobs[] = {0, 1, 24, 31, 32, 33, 90, 257};
  RandomSpec spec;
  spec.nodes = kNodes[seed % 8];
  spec.jobs = kJobs[seed / 8 % 8];
  Problem problem = random_problem(seed, spec);
  PassCase pass = conservative ? random_conservative_pass(seed, problem) : random_pass(seed, problem);
  return place_body(std::move(problem), std::move(pass));
}

/// Jobs of two GPUs on nodes of three: the third and the later ones find single GPUs.
Body single_gpus_left_body() {
  ProblemBuilder b;
  b.rack("", {3, 3});
  const int pair = b.demand({.groups = {{.members = 1, .gpus = 2}}});
  for (int j = 0; j < 5; ++j) b.job({pair});
  Problem problem = b.build();
  PassCase pass = pass_over(problem);
  return place_body(std::move(problem), std::move(pass));
}

Body price_body(std::uint64_t seed) {
  constexpr std::int32_t kJobs[] = {0, 1, 2, 7, 31, 33, 64, 150};
  constexpr std::int32_t kTypes[] = {1, 2, 3, 6};
  struct Data {
    ChoiceProblem problem;
    ChoiceBuffers got;
    std::vector<std::int64_t> prices;
    std::vector<std::max_align_t> memory;
    kernel::PriceWorkspace workspace{};
    kernel::PriceView view{};
    kernel::PriceRequest request{};
    kernel::PriceResult result{};
  };
  RandomChoiceSpec spec;
  spec.jobs = kJobs[seed % 8];
  spec.types = kTypes[seed / 8 % 4];
  spec.kind = kChoiceKinds[seed % kChoiceKinds.size()];
  spec.load_percent = seed % 3 == 0 ? 80 : 300;
  if (seed % 4 == 0) spec.identical_percent = 70;
  ChoiceProblem problem = random_choice(seed, spec);
  ChoiceBuffers buffers(problem);
  auto data = std::make_shared<Data>(Data{std::move(problem), std::move(buffers), {}, {}});
  if (seed % 6 == 0) {
    for (std::int32_t t = 0; t < data->problem.n_types(); ++t)
      data->prices.push_back(static_cast<std::int64_t>((seed * 7919 + 13) % 50'000) * (t % 2));
  }
  Choosing how;
  if (seed % 7 == 0) how.most_evaluations = static_cast<std::int32_t>(seed % 11) + 1;
  data->view = data->problem.view();
  data->request = {how.gap_ppm, how.most_evaluations, how.bound_only, data->prices.empty() ? nullptr : data->prices.data()};
  data->memory = memory_of(kernel::carve_price_workspace(nullptr, data->view.n_jobs, data->view.n_types, data->workspace));
  kernel::carve_price_workspace(data->memory.data(), data->view.n_jobs, data->view.n_types, data->workspace);
  data->result = data->got.view();
  return [data](FiberGroup& group) { kernel::price(group, data->view, data->request, data->workspace, data->result); };
}

Body replay_body(std::uint64_t seed) {
  constexpr std::int32_t kJobs[] = {12, 0, 1, 33, 65, 90};
  constexpr std::int32_t kGpus[] = {8, 33, 70};
  struct Data {
    ReplayCase replay;
    ReplayBuffers got;
    std::vector<std::max_align_t> memory;
    kernel::ReplayWorkspace workspace{};
    kernel::ReplayView view{};
    kernel::ReplayRequest request{};
    kernel::ReplayResult result{};
  };
  const RandomReplaySpec spec{kJobs[seed % 6], kGpus[seed / 6 % 3], 1};
  auto data = std::make_shared<Data>(Data{ReplayCase(seed, spec), ReplayBuffers(spec.jobs), {}});
  data->view = data->replay.view();
  data->request = data->replay.request(0);
  const std::int64_t gpus = kernel::gpus_of(data->view, data->request);
  data->memory = memory_of(kernel::carve_replay_workspace(nullptr, data->view, gpus, true, data->workspace));
  kernel::carve_replay_workspace(data->memory.data(), data->view, gpus, true, data->workspace);
  data->result = data->got.view();
  struct AtOnce {
    bool stop() { return true; }
  };
  if (seed % 13 > 0) {
    return [data](FiberGroup& group) { kernel::replay(group, data->view, data->request, data->workspace, data->result); };
  }
  return [data](FiberGroup& group) { kernel::replay(group, data->view, data->request, data->workspace, data->result, AtOnce{}); };
}

Body delay_replay_body(std::uint64_t seed) {
  constexpr std::int32_t kJobs[] = {12, 0, 1, 33, 65, 90};
  struct AtOnce {
    bool stop() { return true; }
  };
  struct Data {
    DelayReplayCase replay;
    DelayReplayBuffers got;
    std::vector<std::max_align_t> memory;
    kernel::DelayReplayWorkspace workspace{};
    kernel::DelayReplayView view{};
    kernel::DelayReplayRequest request{};
    kernel::DelayReplayResult result{};
    AtOnce at_once{};
  };
  const RandomDelayReplaySpec spec{kJobs[seed % 6], seed % 4 == 0 ? 40 : 9, 1};
  auto data = std::make_shared<Data>(Data{DelayReplayCase(seed, spec), DelayReplayBuffers(spec.jobs), {}});
  data->view = data->replay.view();
  data->request = data->replay.request(0);
  const std::int64_t gpus = kernel::gpus_of(data->view);
  data->memory = memory_of(kernel::carve_delay_workspace(nullptr, data->view, gpus, data->workspace));
  kernel::carve_delay_workspace(data->memory.data(), data->view, gpus, data->workspace);
  data->result = data->got.view();
  if (seed % 13 > 0) {
    return [data](FiberGroup& group) { kernel::delay_replay(group, data->view, data->request, data->workspace, data->result); };
  }
  return
      [data](FiberGroup& group) { kernel::delay_replay(group, data->view, data->request, data->workspace, data->result, data->at_once); };
}

Body contend_body(std::uint64_t seed) {
  constexpr std::int32_t kJobs[] = {33, 0, 1, 90, 65, 150};
  constexpr std::int32_t kLinks[] = {12, 3, 40};
  struct Data {
    ContendCase one;
    ContendBuffers got;
    IndexedJobs jobs;
    DenseMatrices matrices;
    std::vector<std::int32_t> memory;
    kernel::ContendView view;
    kernel::ContendRequest request;
    kernel::ContendResult result;
    kernel::ContendWorkspace workspace{};
  };
  ContendCase one(seed, {kLinks[seed / 6 % 3], kJobs[seed % 6], 4, 12});
  ContendBuffers buffers(one);
  IndexedJobs jobs(one, seed % 2 == 0 ? 32 : 96);
  DenseMatrices matrices(one, seed % 3 == 0);
  auto data = std::make_shared<Data>(Data{std::move(one), std::move(buffers), std::move(jobs), std::move(matrices), {}, {}, {}, {}});
  data->view = data->one.view();
  data->request = data->one.request();
  data->result = data->got.view();
  const std::int32_t tile = data->jobs.index.tile_jobs;
  data->memory.resize(static_cast<std::size_t>(kernel::carve_contend_workspace(nullptr, tile, data->one.k, data->workspace)));
  kernel::carve_contend_workspace(data->memory.data(), tile, data->one.k, data->workspace);
  return [data](FiberGroup& group) {
    for (std::int32_t i = 0; i < data->request.n; ++i) {
      kernel::contend_loads(group, data->view, data->jobs.index.load, data->request, i, data->result);
      kernel::contend_pair_sum(group, data->view, data->jobs.index, data->request, i, data->result.pair_sum);
      kernel::contend_sparse(group, data->view, data->jobs.index, data->request, i, data->workspace, data->result);
      group.sum(0);  // another kernel's
      kernel::contend_dense(group, data->view, data->matrices.dense, data->jobs.index.tile_jobs, data->request, i, data->workspace,
                            data->result);
      group.sum(0);  // the next one is another block's
    }
  };
}

Body victims_body(std::uint64_t seed) {
  constexpr std::int32_t kNodes[] = {12, 33, 3, 70, 40, 5};
  struct Data {
    VictimsCase one;
    VictimsBuffers got;
    std::vector<std::int64_t> rows;
    std::vector<std::int32_t> position[5];
    std::vector<std::max_align_t> memory;
    kernel::ProblemView view;
    kernel::VictimsRequest request;
    kernel::VictimsResult result;
    kernel::VictimsPositions positions{};
    std::vector<kernel::VictimsSizes> sizes;
  };
  RandomVictimsSpec spec;
  spec.nodes = kNodes[seed % 6];
  spec.jobs = 3 * spec.nodes;
  spec.gang_percent = seed % 4 == 0 ? 80 : 30;
  VictimsCase one = random_victims(seed, spec);
  VictimsBuffers buffers(one);
  auto data = std::make_shared<Data>(Data{std::move(one), std::move(buffers), {0}, {}, {}, {}, {}, {}, {}, {}});
  data->view = data->one.problem.view();
  data->request = data->one.request();
  data->result = data->got.view();
  for (const std::int32_t job : data->one.candidate_job) {
    data->rows.push_back(data->rows.back() + data->view.held_end[job] - data->view.held_begin[job]);
  }
  for (std::size_t t = 0; t < 5; ++t) {
    data->position[t].resize(static_cast<std::size_t>(data->view.n_nodes));
    for (std::int32_t i = 0; i < data->view.n_nodes; ++i) {
      kernel::VictimsPositionBody{data->view.topology[t].order, data->position[t].data()}(i);
    }
    data->positions.position[t] = data->position[t].data();
  }
  constexpr std::int64_t kMostThreads = 1024;
  std::size_t most = 0;
  for (std::int32_t q = 0; q < data->request.n; ++q) {
    kernel::VictimsWorkspace unused{};
    data->sizes.push_back(kernel::victims_sizes(data->view, data->request, data->rows.data(), q, kMostThreads));
    most = std::max(most, kernel::carve_victims_workspace(nullptr, data->sizes.back(), kMostThreads, unused));
  }
  data->memory = memory_of(most);
  return [data](FiberGroup& group) {
    for (std::int32_t q = 0; q < data->request.n; ++q) {
      kernel::VictimsWorkspace ws{};
      kernel::carve_victims_workspace(reinterpret_cast<std::byte*>(data->memory.data()), data->sizes[static_cast<std::size_t>(q)],
                                      kMostThreads, ws);
      kernel::victims(group, data->view, data->positions, data->request, q, ws, data->result);
      group.sum(0);  // the next one is another block's
    }
  };
}

struct ScoreBody {
  const kernel::ScoreTableView& table;
  kernel::BestPlace* best;
  FiberGroup& group;

  template <int kMost, bool kThreshold>
  void run() const {
    for (std::int32_t demand = 0; demand < table.n_demands; ++demand)
      kernel::best_places<kMost, kThreshold>(group, table, demand, best + std::ptrdiff_t{demand} * table.k);
  }
};

Body score_body(std::uint64_t seed) {
  struct Data {
    Problem problem;
    ScoreCase asked;
    cpu::ScoreTable table;
    kernel::ScoreTableView view;
  };
  Problem problem = random_problem(seed);
  ScoreCase asked = random_score(seed, problem);
  auto data = std::make_shared<Data>(Data{std::move(problem), std::move(asked), {}, {}});
  data->table.build(data->problem.view(), data->asked.view(), cpu::Collapse::kOn);
  data->view = data->table.view();
  data->table.best().resize(static_cast<std::size_t>(data->view.n_demands) * static_cast<std::size_t>(data->view.k));
  return [data](FiberGroup& group) { kernel::with_score_variant(data->view, ScoreBody{data->view, data->table.best().data(), group}); };
}

/// The first population and the candidates of one generation, as the kernels make them.
Body ones_body(std::uint64_t seed) {
  constexpr std::int32_t kJobs[] = {12, 0, 1, 31, 7, 33, 64};
  constexpr std::int32_t kGpuCounts[] = {24, 1, 130, 16, 300, 1025};
  struct Data {
    OnesProblem problem;
    OnesBuffers got;
    std::vector<std::max_align_t> memory;
    kernel::OnesWorkspace workspace{};
    kernel::OnesView view{};
    kernel::OnesResult result{};
    kernel::OnesDeployed deployed{};
    std::vector<std::int32_t> taken{}, by_home{}, refreshed{}, fill{}, fresh{}, candidate{};
    std::vector<std::int64_t> left{};
    std::vector<std::uint32_t> bits{};
  };
  RandomOnesSpec spec;
  spec.jobs = kJobs[seed % 7];
  spec.n_gpus = kGpuCounts[seed / 2 % 6];
  spec.population = static_cast<std::int32_t>(seed % 4) + 1;
  spec.options = kOnesOptions[seed % kOnesOptions.size()];
  OnesProblem problem = random_ones(seed, spec);
  OnesBuffers buffers(problem, 0);
  auto data = std::make_shared<Data>(Data{std::move(problem), std::move(buffers), {}});
  data->view = data->problem.view();
  data->result = data->got.view();
  const kernel::OnesView& v = data->view;
  data->memory = memory_of(kernel::carve_ones_workspace(nullptr, v.n_jobs, data->workspace));
  kernel::carve_ones_workspace(data->memory.data(), v.n_jobs, data->workspace);
  data->taken.resize(static_cast<std::size_t>(v.n_gpus) + 1);
  data->by_home.resize(static_cast<std::size_t>(v.n_jobs));
  data->deployed = kernel::ones_deployed(v, data->taken.data(), data->by_home.data());
  const auto jobs = static_cast<std::size_t>(v.n_jobs);
  data->refreshed.resize(jobs * static_cast<std::size_t>(v.population));
  data->left.resize(jobs);
  data->candidate.resize(jobs * static_cast<std::size_t>(kernel::ones_candidates(v.population)));
  data->bits.resize(static_cast<std::size_t>(kernel::ones_bit_words(v.n_gpus)));
  for (std::int32_t j = 0; j < v.n_jobs; ++j) {
    (v.fresh[j] != 0 ? data->fresh : data->fill).push_back(j);
    if (v.fresh[j] == 0) data->left[static_cast<std::size_t>(j)] = kernel::ones_left(v, j, 0);
  }
  return [data](FiberGroup& group) {
    const kernel::OnesView& view = data->view;
    for (std::int32_t i = 0; i < view.population; ++i) {
      std::int32_t* const count = data->result.count + std::int64_t{i} * view.n_jobs;
      kernel::ones_first(group, view, i, 0, data->workspace.keys, count);
      kernel::ones_reorder(group, view, data->deployed, count, data->workspace, data->result.first + std::int64_t{i} * view.n_jobs);
      group.sum(0);  // the next one is another block's, or another kernel's
    }
    for (std::int32_t i = group.rank(); i < view.population * view.n_jobs; i += group.size())
      data->refreshed[static_cast<std::size_t>(i)] = kernel::ones_refreshed(view, i % view.n_jobs, data->result.count[i]);
    group.sum(0);
    const kernel::OnesGeneration of{0,
                                    data->result.first,
                                    data->refreshed.data(),
                                    data->left.data(),
                                    data->fill.data(),
                                    data->fresh.data(),
                                    static_cast<std::int32_t>(data->fill.size()),
                                    static_cast<std::int32_t>(data->fresh.size())};
    for (std::int32_t i = 0; i < kernel::ones_candidates(view.population); ++i) {
      kernel::ones_candidate(group, view, of, i, data->bits.data(), data->candidate.data() + std::int64_t{i} * view.n_jobs);
      group.sum(0);
    }
  };
}

/// @param is_long  A small problem for so many steps that entries are packed, and idle GPUs lower the score.
Body plan_search_body(std::uint64_t seed, bool is_long) {
  constexpr std::int32_t kJobs[] = {24, 0, 1, 48, 12, 80};
  constexpr std::int32_t kNodes[] = {12, 1, 30, 6, 70};
  constexpr std::int32_t kRunning[] = {40, 0, 90, 60};
  struct Data {
    PlanSearchProblem problem;
    PlanSearching how;
    std::vector<std::max_align_t> memory;
    std::vector<kernel::PlanSearchIndividual> x;
    kernel::PlanSearchWorkspace workspace;
    kernel::PlanSearchView view;
    kernel::PlanSearchRequest request;
  };
  RandomPlanSearchSpec spec;
  spec.problem.jobs = kJobs[seed % 6];
  spec.problem.nodes = kNodes[seed / 2 % 5];
  spec.problem.running_percent = kRunning[seed / 3 % 4];
  spec.problem.types = 1 + static_cast<std::int32_t>(seed % 2);
  spec.problem.constraints = seed % 5 != 0;
  spec.problem.until = seed % 4 == 0;
  spec.classes = seed % 3 == 0;
  spec.fragments = seed % 4 == 1;
  if (is_long) {
    spec.problem.nodes = 1 + static_cast<std::int32_t>(seed % 3);
    spec.problem.jobs = 40;
    spec.problem.running_percent = 20;
    spec.problem.tree_percent = 0;
    spec.fragments = true;
  }
  PlanSearchProblem problem = random_plan_search(seed, spec);
  PlanSearching how = random_searching(seed, problem);
  how.generations = std::min(how.generations, 2);
  if (is_long) {
    // The fewer GPUs of a node are idle the more they cost, so that one more job may lower the score.
    for (std::size_t i = 0; i < problem.fragment.size(); ++i) {
      const auto idle = static_cast<std::int64_t>(i % (kMaxGpusPerNode + 1));
      problem.fragment[i] = idle == 0 ? 0 : (kMaxGpusPerNode + 1 - idle) * 1'000'000'000;
    }
    how.population = how.islands = 1;
    how.generations = 3;
    how.steps = 150;
    how.n_starts = 0;
    how.operators = ~0U;
  }
  auto data = std::make_shared<Data>(Data{std::move(problem), std::move(how), {}, {}, {}, {}, {}});
  data->view = data->problem.view();
  data->request = data->how.request();
  const kernel::PlanSearchView& v = data->view;
  const std::int32_t n = kernel::plan_search_individuals(data->request);
  const std::size_t each = kernel::plan_search_individual_bytes(v);
  data->memory = memory_of(each * static_cast<std::size_t>(n) + kernel::plan_search_workspace_bytes(v));
  auto* const first = reinterpret_cast<std::byte*>(data->memory.data());
  for (std::int32_t i = 0; i < n; ++i)
    data->x.push_back(kernel::carve_plan_search_individual(first + each * static_cast<std::size_t>(i), v));
  data->workspace = kernel::carve_plan_search_workspace(first + each * static_cast<std::size_t>(n), v);
  return [data, n](FiberGroup& group) {
    const kernel::PlanSearchView& view = data->view;
    const kernel::PlanSearchRequest& request = data->request;
    const auto individual = [&](std::int32_t i) -> kernel::PlanSearchIndividual& { return data->x[static_cast<std::size_t>(i)]; };
    kernel::plan_search_begin(group, view, request, individual(0), data->workspace);
    group.sum(0);  // the next step is another kernel's
    for (std::int32_t i = 1; i < n; ++i) kernel::plan_search_copy(group, view, individual(0), individual(i));
    group.sum(0);
    for (std::int32_t g = 0; g < request.n_starts; ++g) {
      const std::int64_t start = std::int64_t{g} * view.n_jobs;
      kernel::plan_search_initialise(group, view, request.start_option + start, request.start_order + start,
                                     individual(kernel::plan_search_start_at(request, g)), data->workspace);
      group.sum(0);
    }
    for (std::int32_t g = 0; g < request.generations; ++g) {
      for (std::int32_t i = 0; i < n; ++i) {
        const std::int32_t parent = kernel::plan_search_crossover(request, g, i);
        if (parent >= 0) kernel::plan_search_offspring(group, view, request, individual(parent), individual(i), data->workspace);
        group.sum(0);
      }
      for (std::int32_t i = 0; i < n; ++i) {
        kernel::plan_search_improve(group, view, request, g, i, individual(i), data->workspace);
        group.sum(0);
      }
    }
  };
}

}  // namespace

const std::vector<BarrierCase>& barrier_cases() {
  static const std::vector<BarrierCase> all = [] {
    std::vector<BarrierCase> cases;
    const auto add = [&](const char* name, std::uint64_t seeds, const auto& make) {
      for (std::uint64_t seed = 0; seed < seeds; ++seed) cases.push_back({name + std::string(" ") + std::to_string(seed), make(seed)});
    };
    add("place", 64, [](std::uint64_t seed) { return random_place_body(seed, false); });
    add("conservative place", 40, [](std::uint64_t seed) { return random_place_body(seed, true); });
    add("place with single GPUs left", 1, [](std::uint64_t) { return single_gpus_left_body(); });
    add("price", 48, price_body);
    add("replay", 48, replay_body);
    add("delay_replay", 48, delay_replay_body);
    add("contend", 24, contend_body);
    add("victims", 36, victims_body);
    add("score", 12, score_body);
    add("ones", 40, ones_body);
    add("plan_search", 40, [](std::uint64_t seed) { return plan_search_body(seed, false); });
    add("long plan_search", 12, [](std::uint64_t seed) { return plan_search_body(seed, true); });
    return cases;
  }();
  return all;
}

}  // namespace berth::test
