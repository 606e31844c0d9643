#include "tests/cuda_on_threads/operations.hpp"

#include <algorithm>
#include <memory>

#include "tests/support/contend/random_contend.hpp"
#include "tests/support/delays/random_delay_replay.hpp"
#include "tests/support/random_choice.hpp"
#include "tests/support/random_ones.hpp"
#include "tests/support/random_plan_search.hpp"
#include "tests/support/random_problem.hpp"
#include "tests/support/random_replay.hpp"
#include "tests/support/result_buffers.hpp"
#include "tests/support/victims/random_victims.hpp"

namespace berth::cuda_on_threads {
namespace {

using namespace test;

std::string unless(bool equal) { return equal ? "" : "another answer than the reference"; }

Operation place_of(std::size_t n) {
  const auto problem = std::make_shared<Problem>(random_problem(20));
  const auto passes = std::make_shared<std::vector<PassCase>>();
  const auto expected = std::make_shared<std::vector<ResultBuffers>>();
  const auto reference = core::make_reference_backend();
  for (std::size_t i = 0; i < n; ++i) {
    passes->push_back(random_pass(20'000 + i, *problem));
    expected->push_back(place(*reference, *problem, passes->back()));
  }
  return {n == 1 ? "place one" : "place many", [=](core::PlacementBackend& backend) {
            std::vector<ResultBuffers> got;
            std::vector<core::PlaceTask> tasks;
            std::vector<kernel::PlaceResult> results;
            for (const PassCase& pass : *passes) {
              got.emplace_back(*problem, pass);
              tasks.push_back(pass.view());
            }
            for (ResultBuffers& one : got) results.push_back(one.view());
            backend.place_batch(problem->view(), tasks, results);
            std::string text;
            for (std::size_t i = 0; i < n; ++i) text += diff((*expected)[i], got[i]);
            return text;
          }};
}

bool same(const std::vector<kernel::CandidateRow>& a, const std::vector<kernel::CandidateRow>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const kernel::CandidateRow& x, const kernel::CandidateRow& y) {
    return x.option == y.option && x.where == y.where && x.score == y.score && x.leftover == y.leftover;
  });
}

Operation score_all() {
  const auto problem = std::make_shared<Problem>(random_problem(7));
  const auto asked = std::make_shared<ScoreCase>(random_score(7, *problem));
  const auto expected =
      std::make_shared<std::vector<kernel::CandidateRow>>(score(*core::make_reference_backend(), *problem, asked->view()));
  return {"score", [=](core::PlacementBackend& backend) { return unless(same(score(backend, *problem, asked->view()), *expected)); }};
}

Operation price_some() {
  const auto problems = std::make_shared<std::vector<ChoiceProblem>>();
  const auto expected = std::make_shared<std::vector<ChoiceBuffers>>();
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    RandomChoiceSpec spec;
    spec.jobs = 20;
    problems->push_back(random_choice(seed, spec));
    expected->push_back(choose_by_oracle(problems->back()));
  }
  return {"price", [=](core::PlacementBackend& backend) {
            std::vector<ChoiceBuffers> got;
            std::vector<core::PriceTask> tasks;
            std::vector<kernel::PriceResult> results;
            for (const ChoiceProblem& problem : *problems) {
              const Choosing how;
              got.emplace_back(problem);
              tasks.push_back({problem.view(), {how.gap_ppm, how.most_evaluations, how.bound_only, nullptr}, nullptr});
            }
            for (ChoiceBuffers& one : got) results.push_back(one.view());
            backend.price(tasks, results);
            return unless(got == *expected);
          }};
}

Operation replay_some() {
  const auto one = std::make_shared<ReplayCase>(95, RandomReplaySpec{60, 33, 6});
  const auto expected = std::make_shared<std::vector<ReplayBuffers>>(replay(*core::make_reference_backend(), *one));
  return {"replay", [=](core::PlacementBackend& backend) { return unless(replay(backend, *one) == *expected); }};
}

Operation delay_replay_some() {
  const auto one = std::make_shared<DelayReplayCase>(7, RandomDelayReplaySpec{60, 9, 5});
  const auto expected = std::make_shared<std::vector<DelayReplayBuffers>>(delay_replay(*core::make_reference_backend(), *one));
  return {"delay_replay", [=](core::PlacementBackend& backend) { return unless(delay_replay(backend, *one) == *expected); }};
}

Operation contend_by(kernel::ContendMethod method) {
  const auto one = std::make_shared<ContendCase>(3, RandomContendSpec{40, 70, 9, 12});
  one->k = 3;
  one->method = method;
  const auto expected = std::make_shared<ContendBuffers>(contend(*core::make_reference_backend(), *one));
  return {method == kernel::ContendMethod::kDense ? "contend by pairs" : "contend by links",
          [=](core::PlacementBackend& backend) { return unless(contend(backend, *one) == *expected); }};
}

Operation find_victims() {
  RandomVictimsSpec spec;
  spec.nodes = 20;
  spec.jobs = 50;
  const auto one = std::make_shared<VictimsCase>(random_victims(6, spec));
  const auto expected = std::make_shared<VictimsBuffers>(victims(*core::make_reference_backend(), *one));
  return {"victims", [=](core::PlacementBackend& backend) { return unless(victims(backend, *one) == *expected); }};
}

Operation evolve(const RandomOnesSpec& spec, std::int32_t generations) {
  const auto problem = std::make_shared<OnesProblem>(random_ones(3, spec));
  const auto how = std::make_shared<OnesEvolving>();
  how->generations = generations;
  const auto expected = std::make_shared<OnesBuffers>(evolve_by_oracle(*problem, *how));
  return {"ones", [=](core::PlacementBackend& backend) {
            OnesBuffers got(*problem, how->generations);
            backend.ones({problem->view(), how->request(), nullptr}, got.view());
            return unless(got == *expected);
          }};
}

}  // namespace

Operation ones_of(std::int32_t gpus) {
  RandomOnesSpec spec;
  spec.n_gpus = gpus;
  spec.jobs = 5;
  spec.population = 2;
  return evolve(spec, 1);
}

Operation plan_search_of(std::int32_t individuals) {
  RandomPlanSearchSpec spec;
  spec.problem.jobs = 16;
  const auto problem = std::make_shared<PlanSearchProblem>(random_plan_search(5, spec));
  const auto how = std::make_shared<PlanSearching>(random_searching(5, *problem));
  how->islands = 2;
  how->population = individuals / 2;
  how->generations = 4;
  how->steps = 2;
  how->migration = 2;
  how->n_starts = 0;
  const auto expected = std::make_shared<PlanSearchBuffers>(*problem, *how);
  core::make_reference_backend()->plan_search({problem->view(), how->request(), nullptr}, expected->view());
  return {"plan_search", [=](core::PlacementBackend& backend) {
            PlanSearchBuffers got(*problem, *how);
            backend.plan_search({problem->view(), how->request(), nullptr}, got.view());
            return unless(got == *expected);
          }};
}

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all{place_of(1),
                                          place_of(6),
                                          score_all(),
                                          price_some(),
                                          replay_some(),
                                          delay_replay_some(),
                                          contend_by(kernel::ContendMethod::kSparse),
                                          contend_by(kernel::ContendMethod::kDense),
                                          find_victims(),
                                          evolve({}, 4),
                                          plan_search_of(8)};
  return all;
}

}  // namespace berth::cuda_on_threads
