#include "host/core/engine/what_if.hpp"

#include <algorithm>
#include <utility>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/engine/resolve.hpp"
#include "host/core/placement/stuck_jobs.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {
namespace {

/// The next row, reusing its memory from an earlier batch.
template <class T>
T& next(std::deque<T>& rows, std::int32_t& n) {
  if (rows.size() == to_index(n)) rows.emplace_back();
  return rows[to_index(n++)];
}

bool same_rows(const std::vector<kernel::TakenRow>& a, const std::vector<kernel::TakenRow>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const kernel::TakenRow& x, const kernel::TakenRow& y) { return x.node == y.node && x.mask == y.mask; });
}

// Jobs give up their GPUs in the order of the policy.
bool offers_leases(const berth::Scenario& asked, const PassRules& rules) {
  return asked.order.empty() && asked.preemptive.value_or(true) && rules.delays && rules.delays->lease_end != LeaseEnd::kKeep;
}

bool same_order(const berth::Scenario& a, const berth::Scenario& b) {
  return a.policy == b.policy && a.params == b.params && a.order == b.order && a.leave_out == b.leave_out && a.preemptive == b.preemptive &&
         a.policy_state == b.policy_state;
}

}  // namespace

const char* WhatIf::place(const StateImpl& s, std::span<const berth::Scenario> scenarios, Backends& backends, Backend wanted, int threads,
                          std::string& note, std::vector<ScenarioOutcome>& out) {
  const char* used = "";
  out.resize(scenarios.size());
  backends.begin();
  const auto find = [&](const kernel::ProblemView& p, const kernel::VictimsRequest& asked, const kernel::VictimsResult& answer) {
    backends.also(wanted, threads, note, [&](PlacementBackend& backend) { backend.victims(p, asked, answer); });
  };
  find_ = FindVictims(find);
  for (std::size_t first = 0; first < scenarios.size();) {
    begin(s);
    std::size_t last = first;
    do {
      try {
        add(s, scenarios[last]);
      } catch (const InvalidArgument& error) {
        throw InvalidArgument("scenario " + std::to_string(last) + ": " + error.what());
      }
    } while (++last < scenarios.size() && bytes_ < batch_bytes);
    used = run(s, backends, wanted, threads, note);
    for (std::int32_t i = 0; first < last; ++i, ++first) read(s, i, out[first]);
  }
  return used;
}

void WhatIf::begin(const StateImpl& s) {
  if (served_.lock() != s.identity) {
    // Versions count the changes of one state: results kept by version are not valid for another state.
    builder_ = {};
    certificates_ = {};
    inputs_.clear();
    served_ = s.identity;
  }
  n_problems_ = n_inputs_ = n_passes_ = 0;
  bytes_ = 0;
  lost_gpus_ = s.any_lost_gpus();
}

void WhatIf::add(const StateImpl& s, const berth::Scenario& asked) {
  chosen_.choose(asked.policy, asked.params);
  if (chosen_.policy == nullptr) throw InvalidArgument("policy '" + asked.policy + "' chooses shapes; a scenario takes a queue policy");
  if (chosen_.rules.sharing_ppm > 0)
    throw InvalidArgument("policy '" + asked.policy + "': a scenario has no jobs that share GPUs by interference; leave out 'sharing'");
  Pass& pass = next(passes_, n_passes_);
  pass.asked = &asked;
  taken_of(s, asked.taken, pass.taken);
  pass.problem = problem_of(s, pass);
  pass.input = input_of(s, pass);
  const Problem& problem = problems_[to_index(pass.problem)];
  bytes_ += std::int64_t{2} * problem.bound * static_cast<std::int64_t>(sizeof(kernel::PlacedRow)) +
            inputs_[to_index(pass.input)].request.n * static_cast<std::int64_t>(5 * sizeof(std::int32_t));
}

std::int32_t WhatIf::problem_of(const StateImpl& s, const Pass& pass) {
  const bool consolidated = chosen_.rules.packing == Packing::kConsolidate;
  const std::optional<Consolidation>& close = chosen_.rules.consolidation;
  for (std::int32_t i = offers_leases(*pass.asked, chosen_.rules) ? 0 : n_problems_; i-- > 0;) {
    const Problem& known = problems_[to_index(i)];
    if (!known.offers.any() && known.consolidated == consolidated && known.close == close && known.delays == chosen_.rules.delays &&
        known.shape == chosen_.shape && (!lost_gpus_ || same_rows(known.taken, pass.taken)))
      return i;
  }
  Problem& problem = next(problems_, n_problems_);
  problem.consolidated = consolidated;
  problem.close = close;
  problem.delays = chosen_.rules.delays;
  problem.shape = chosen_.shape;
  problem.taken = pass.taken;
  problem.offers.clear();
  problem.pass.build(s, chosen_.rules, pass.taken, offers_leases(*pass.asked, chosen_.rules) ? pass.asked->policy_state : nullptr);
  for (std::int32_t i = 0; i < n_problems_; ++i) problems_[to_index(i)].pass.follow_demands(s);
  problem.rejected = builder_.reject(s, problem.pass.view(), certificates_);
  problem.tried.build(s, problem.pass.view(), problem.shape, builder_);
  problem.bound = entry_bound(problem.pass.view());
  return n_problems_ - 1;
}

std::int32_t WhatIf::input_of(const StateImpl& s, const Pass& pass) {
  if (n_passes_ > 1) {
    const Pass& before = passes_[to_index(n_passes_ - 2)];
    // What is taken decides which jobs are admitted.
    if (!chosen_.rules.admits_by_count && !offers_leases(*pass.asked, chosen_.rules) && before.problem == pass.problem &&
        same_order(*before.asked, *pass.asked))
      return before.input;
  }
  Problem& problem = problems_[to_index(pass.problem)];
  skipped_ = problem.rejected;
  for (const std::string& id : pass.asked->leave_out) skipped_[to_index(job_of(s, id))] = 1;
  PolicyEntry entry = *chosen_.entry;
  entry.preemptive = pass.asked->preemptive.value_or(entry.preemptive);
  const PassInput::Marks marks{problem.pass.lost(), problem.pass.failures(), skipped_};
  Input& input = next(inputs_, n_inputs_);
  order(s, entry, *pass.asked, marks, problem.tried, input.pass);
  if (offers_leases(*pass.asked, chosen_.rules) &&
      problem.offers.begin(s, *chosen_.rules.delays, chosen_.policy->lease_ended(), problem.tried, problem.pass)) {
    problem.tried.build(s, problem.pass.view(), problem.shape, builder_);
  }
  input.entry = entry;
  input.rules = chosen_.rules;
  // A scenario that says that jobs stay, or that states an order, means it.
  input.arranged = pass.asked->order.empty() && pass.asked->preemptive.value_or(true);
  input.skipped = skipped_;
  arrange(s, pass, input);
  return n_inputs_ - 1;
}

void WhatIf::arrange(const StateImpl& s, const Pass& pass, Input& input) {
  const Problem& problem = problems_[to_index(pass.problem)];
  const PassInput::Marks marks{problem.offers.any() ? problem.offers.gone() : problem.pass.lost(), problem.pass.failures(), input.skipped};
  input.pass.disarrange();
  if (input.arranged) {
    input.pass.arrange(s, input.entry, input.rules.quotas, marks, problem.tried.view(problem.pass.view()), find_);
  }
  input.request = input.pass.request(s, input.entry, input.rules, marks, 0, pass.taken, &problem.tried);
}

// Jobs that gave up their GPUs for nothing keep them: the pass is made again. See Engine.
void WhatIf::settle(const StateImpl& s, Pass& pass, PlacementBackend& backend) {
  Problem& problem = problems_[to_index(pass.problem)];
  Input& input = inputs_[to_index(pass.input)];
  while (problem.offers.settle(s, problem.pass, input.request, pass.result.columns())) {
    problem.tried.build(s, problem.pass.view(), problem.shape, builder_);
    arrange(s, pass, input);
    const kernel::ProblemView& own = problem.pass.view();
    const kernel::ProblemView visited = problem.tried.view(own);
    kernel::PlaceRequest request = input.request;
    request.option_run = problem.tried.run_times(own, request.option_run, input.run);
    const kernel::PlaceResult placed = pass.result.prepare(request.n, entry_bound(visited, request));
    backend.place(visited, {request, pass.taken, nullptr}, placed);
    problem.tried.translate(request, placed);
    overruns_.withdraw(s, own, request, placed);
    input.pass.settle(request, placed);
  }
}

// See Engine.
template <class Place>
void WhatIf::try_stuck_first(const StateImpl& s, Pass& pass, const Place& place) {
  const Problem& problem = problems_[to_index(pass.problem)];
  Input& input = inputs_[to_index(pass.input)];
  if (!may_stick(input)) return;
  const kernel::ProblemView& own = problem.pass.view();
  const kernel::ProblemView visited = problem.tried.view(own);
  const PassInput::Marks marks{problem.pass.lost(), problem.pass.failures(), input.skipped};
  const auto ask = [&] { return input.pass.request(s, input.entry, input.rules, marks, 0, pass.taken, &problem.tried); };
  const kernel::PlaceResult before = pass.result.columns();
  for (const std::int32_t from : stuck_.find(own, input.pass.quotas(), input.request, before)) {
    const std::span<const std::int32_t> to = input.pass.put_first(own, stuck_, from);
    kernel::PlaceRequest request = ask();
    request.option_run = problem.tried.run_times(own, request.option_run, input.run);
    const PassWithFirst with{from, to, with_first_.prepare(request.n, entry_bound(visited, request))};
    place(visited, PlaceTask{request, pass.taken, nullptr}, with.result);
    problem.tried.translate(request, with.result);
    overruns_.withdraw(s, own, request, with.result);
    input.pass.settle(request, with.result);
    input.pass.put_back();
    input.request = ask();
    if (!overruns_.displacers().empty() || !first_starts(s, own, input.pass.quotas(), input.request, before, with)) continue;
    stuck_.order_as_before(input.pass.quotas(), input.request, before, with);
    std::swap(pass.result, with_first_);
    return;
  }
}

void WhatIf::order(const StateImpl& s, const PolicyEntry& entry, const berth::Scenario& asked, const PassInput::Marks& marks,
                   const TriedOptions& tried, PassInput& input) {
  if (asked.order.empty()) {
    PolicyState remembered;
    if (asked.policy_state != nullptr) remembered = *asked.policy_state;
    if (!remembered.policy.empty() && remembered.policy != asked.policy) {
      throw InvalidArgument("the policy state is of '" + remembered.policy + "', not of '" + asked.policy + "'");
    }
    input.order(s, entry, *chosen_.policy, remembered, marks, tried, chosen_.rules);
    return;
  }
  jobs_.clear();
  position_.assign(s.jobs.size(), -1);
  for (const std::string& id : asked.order) {
    const std::int32_t job = job_of(s, id);
    if (position_[to_index(job)] >= 0) throw InvalidArgument("the order names job '" + id + "' twice");
    position_[to_index(job)] = 0;
    const bool stays = !entry.preemptive && s.job.running[to_index(job)] != 0 && marks.lost[to_index(job)] == 0;
    if (!stays && marks.rejected[to_index(job)] == 0) jobs_.push_back(job);
  }
  input.order(jobs_);
}

const char* WhatIf::run(const StateImpl& s, Backends& backends, Backend wanted, int threads, std::string& note) {
  const char* used = "";
  for (std::int32_t p = 0; p < n_problems_; ++p) {
    const Problem& problem = problems_[to_index(p)];
    const kernel::ProblemView& own = problem.pass.view();
    const kernel::ProblemView visited = problem.tried.view(own);
    Pass* offering = nullptr;
    scenarios_.clear();
    results_.clear();
    of_pass_.clear();
    for (std::int32_t w = 0; w < n_passes_; ++w) {
      Pass& pass = passes_[to_index(w)];
      if (pass.problem != p) continue;
      if (problem.offers.any()) offering = &pass;
      Input& input = inputs_[to_index(pass.input)];
      kernel::PlaceRequest request = input.request;
      request.option_run = problem.tried.run_times(own, request.option_run, input.run);
      scenarios_.push_back({request, pass.taken, nullptr});
      of_pass_.push_back(pass.input);
      const bool all = request.discipline == kernel::Discipline::kConservative;
      results_.push_back(pass.result.prepare(request.n, all ? entry_bound(visited, request.discipline) : problem.bound));
    }
    used = backends.run(wanted, threads, note, [&](PlacementBackend& backend) { backend.place_batch(visited, scenarios_, results_); });
    for (std::size_t w = 0; w < results_.size(); ++w) {
      kernel::PlaceRequest& request = scenarios_[w].request;
      problem.tried.translate(request, results_[w]);
      overruns_.withdraw(s, own, request, results_[w]);
      inputs_[to_index(of_pass_[w])].pass.settle(request, results_[w]);
    }
    if (offering != nullptr) {
      used = backends.also(wanted, threads, note, [&](PlacementBackend& backend) { settle(s, *offering, backend); });
      continue;
    }
    // Each placement alone may be made again elsewhere.
    const auto place = [&](const kernel::ProblemView& view, const PlaceTask& task, const kernel::PlaceResult& result) {
      used = backends.also(wanted, threads, note, [&](PlacementBackend& backend) { backend.place(view, task, result); });
    };
    for (std::int32_t w = 0; w < n_passes_; ++w) {
      if (passes_[to_index(w)].problem == p) try_stuck_first(s, passes_[to_index(w)], place);
    }
  }
  return used;
}

}  // namespace berth::core
