#include "host/core/what_if.hpp"

#include <algorithm>
#include <utility>

#include "berth/error.hpp"
#include "host/core/at.hpp"
#include "host/core/resolve.hpp"
#include "host/core/state_impl.hpp"

namespace berth::core {
namespace {

/// The next row, with the memory that it had in an earlier batch.
template <class T>
T& next(std::deque<T>& rows, std::int32_t& n) {
  if (rows.size() == at(n)) rows.emplace_back();
  return rows[at(n++)];
}

bool same_rows(const std::vector<kernel::TakenRow>& a, const std::vector<kernel::TakenRow>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const kernel::TakenRow& x, const kernel::TakenRow& y) { return x.node == y.node && x.mask == y.mask; });
}

bool same_order(const berth::Scenario& a, const berth::Scenario& b) {
  return a.policy == b.policy && a.params == b.params && a.order == b.order && a.leave_out == b.leave_out && a.preemptive == b.preemptive &&
         a.policy_state == b.policy_state;
}

}  // namespace

const char* WhatIf::place(const StateImpl& s, std::span<const berth::Scenario> scenarios, Backends& backends, Backend wanted, int threads,
                          std::string& note, std::vector<ScenarioOutcome>& out) {
  const char* who = "";
  out.resize(scenarios.size());
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
    who = run(s, backends, wanted, threads, note);
    for (std::int32_t i = 0; first < last; ++i, ++first) read(s, i, out[first]);
  }
  return who;
}

void WhatIf::begin(const StateImpl& s) {
  if (served_.lock() != s.identity) {
    // Versions number the changes of one state: what is kept by version is of no use for another state.
    builder_ = {};
    inputs_.clear();
    served_ = s.identity;
  }
  n_problems_ = n_inputs_ = n_walks_ = 0;
  bytes_ = 0;
  lost_gpus_ = std::any_of(s.job_order.begin(), s.job_order.end(),
                           [&](std::int32_t slot) { return s.job.running[at(slot)] != 0 && s.lost_gpus(slot); });
}

void WhatIf::add(const StateImpl& s, const berth::Scenario& asked) {
  chosen_.choose(asked.policy, asked.params);
  if (chosen_.policy == nullptr) throw InvalidArgument("policy '" + asked.policy + "' chooses shapes; a scenario takes a queue policy");
  Walk& walk = next(walks_, n_walks_);
  walk.asked = &asked;
  taken_of(s, asked.taken, walk.taken);
  walk.problem = problem_of(s, walk);
  walk.input = input_of(s, walk);
  const Problem& problem = problems_[at(walk.problem)];
  bytes_ += std::int64_t{2} * problem.bound * static_cast<std::int64_t>(sizeof(kernel::PlacedRow)) +
            inputs_[at(walk.input)].request.n * static_cast<std::int64_t>(5 * sizeof(std::int32_t));
}

std::int32_t WhatIf::problem_of(const StateImpl& s, const Walk& walk) {
  const bool consolidated = chosen_.rules.placement == Placement::kConsolidate;
  const std::optional<Consolidation>& close = chosen_.rules.consolidation;
  for (std::int32_t i = n_problems_; i-- > 0;) {
    const Problem& known = problems_[at(i)];
    if (known.consolidated == consolidated && known.close == close && (!lost_gpus_ || same_rows(known.taken, walk.taken))) return i;
  }
  Problem& problem = next(problems_, n_problems_);
  problem.consolidated = consolidated;
  problem.close = close;
  problem.taken = walk.taken;
  problem.walk.build(s, chosen_.rules, walk.taken);
  for (std::int32_t i = 0; i < n_problems_; ++i) problems_[at(i)].walk.follow_demands(s);
  problem.declined = builder_.decline(s, problem.walk.view(), certificates_);
  problem.bound = entry_bound(problem.walk.view());
  return n_problems_ - 1;
}

std::int32_t WhatIf::input_of(const StateImpl& s, const Walk& walk) {
  if (n_walks_ > 1) {
    const Walk& before = walks_[at(n_walks_ - 2)];
    if (before.problem == walk.problem && same_order(*before.asked, *walk.asked)) return before.input;
  }
  const Problem& problem = problems_[at(walk.problem)];
  skipped_ = problem.declined;
  for (const std::string& id : walk.asked->leave_out) skipped_[at(job_of(s, id))] = 1;
  PolicyEntry entry = *chosen_.entry;
  entry.preemptive = walk.asked->preemptive.value_or(entry.preemptive);
  const WalkInput::Marks marks{problem.walk.lost(), problem.walk.mended(), skipped_};
  Input& input = next(inputs_, n_inputs_);
  order(s, entry, *walk.asked, marks, input.walk);
  input.request = input.walk.request(s, entry, chosen_.rules, marks, 0);
  return n_inputs_ - 1;
}

void WhatIf::order(const StateImpl& s, const PolicyEntry& entry, const berth::Scenario& asked, const WalkInput::Marks& marks,
                   WalkInput& input) {
  if (asked.order.empty()) {
    PolicyState remembered;
    if (asked.policy_state != nullptr) remembered = *asked.policy_state;
    if (!remembered.policy.empty() && remembered.policy != asked.policy) {
      throw InvalidArgument("the policy state is of '" + remembered.policy + "', not of '" + asked.policy + "'");
    }
    input.order(s, entry, *chosen_.policy, remembered, marks);
    return;
  }
  slots_.clear();
  position_.assign(s.jobs.size(), -1);
  for (const std::string& id : asked.order) {
    const std::int32_t slot = job_of(s, id);
    if (position_[at(slot)] >= 0) throw InvalidArgument("the order names job '" + id + "' twice");
    position_[at(slot)] = 0;
    const bool stays = !entry.preemptive && s.job.running[at(slot)] != 0 && marks.lost[at(slot)] == 0;
    if (!stays && marks.declined[at(slot)] == 0) slots_.push_back(slot);
  }
  input.order(slots_);
}

const char* WhatIf::run(const StateImpl& s, Backends& backends, Backend wanted, int threads, std::string& note) {
  const char* who = "";
  for (std::int32_t p = 0; p < n_problems_; ++p) {
    const Problem& problem = problems_[at(p)];
    scenarios_.clear();
    results_.clear();
    for (std::int32_t w = 0; w < n_walks_; ++w) {
      Walk& walk = walks_[at(w)];
      if (walk.problem != p) continue;
      const kernel::PlaceRequest& request = inputs_[at(walk.input)].request;
      scenarios_.push_back({request, walk.taken, nullptr});
      results_.push_back(walk.result.prepare(request.n, problem.bound));
    }
    who = backends.run(wanted, threads, note,
                       [&](PlacementBackend& backend) { backend.place_batch(problem.walk.view(), scenarios_, results_); });
    for (std::size_t w = 0; w < results_.size(); ++w) overruns_.withdraw(s, problem.walk.view(), scenarios_[w].request, results_[w]);
  }
  return who;
}

}  // namespace berth::core
