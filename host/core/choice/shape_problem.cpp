#include "host/core/choice/shape_problem.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <string>
#include <utility>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/plain_floats.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/choice/shape_view.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

constexpr const char* kPriceOf = "price/";  // followed by the id of a GPU type

/// Whether all GPUs of a job could be given to others: closed nodes keep the jobs that they have.
bool holds_open_nodes(const kernel::ProblemView& p, std::int32_t job) {
  for (std::int32_t h = p.held_begin[job]; h < p.held_end[job]; ++h) {
    if ((p.held[h].mask & ~p.node_open[p.held[h].node]) != 0) return false;
  }
  return true;
}

bool may_be_displaced(const StateImpl& s, std::int32_t job) { return s.job.victim_from[to_index(job)] <= s.now; }

std::int64_t held_gpus(const kernel::ProblemView& p, std::int32_t job) {
  std::int64_t gpus = 0;
  for (std::int32_t h = p.held_begin[job]; h < p.held_end[job]; ++h) {
    gpus += p.held[h].share_ppm == kWholeGpu ? std::popcount(p.held[h].mask) : 0;
  }
  return gpus;
}

/// How a job runs; a job that does not run has no such form.
struct RunningForm {
  std::int32_t shape = -1, type = -1;
  std::int64_t gpus = 0;

  bool is(const kernel::OptionRow& option, const kernel::ProblemView& p) const {
    return option.shape == shape && p.demands[option.demand].gpu_type == type && p.demands[option.demand].gpus == gpus;
  }
};

RunningForm form_of(const StateImpl& s, const kernel::ProblemView& p, std::int32_t job) {
  if (s.job.running[to_index(job)] == 0) return {};
  return {s.job.shape[to_index(job)], s.job.held_type[to_index(job)], held_gpus(p, job)};
}

// A job that may not be displaced stays.
// So does a job that runs partly on closed nodes, or on shares, as a price is one of whole GPUs.
// So does a job in a form that none of its options has, such as a gang repaired with fewer members: it could not be
// chosen to stay.
bool may_change(const StateImpl& s, const kernel::ProblemView& p, std::int32_t job, const RunningForm& form) {
  if (!may_be_displaced(s, job) || form.gpus == 0 || !holds_open_nodes(p, job)) return false;
  const kernel::OptionRow* const first = p.options + p.option_begin[job];
  const kernel::OptionRow* const last = p.options + p.option_end[job];
  return std::any_of(first, last, [&](const kernel::OptionRow& option) { return form.is(option, p); });
}

}  // namespace

// A queue above a limit that was lowered starts no job and gives none up by choice: its jobs run on as they do, or leave for others.
void ShapeProblem::collect(const StateImpl& s, const kernel::ProblemView& p, const PassInput::Marks& marks) {
  // Working GPUs that may be given to a job: free now, or held by a job that may have to leave.
  capacity_.assign(to_index(p.n_types), 0);
  for (std::int32_t n = 0; n < p.n_nodes; ++n) capacity_[to_index(p.node_type[n])] += std::popcount(p.node_free[n]);
  beyond_.assign(to_index(p.n_types), 0);
  jobs_.clear();
  for (const std::int32_t job : s.job_order) {
    const bool running = s.job.running[to_index(job)] != 0 && marks.lost[to_index(job)] == 0;
    if (marks.rejected[to_index(job)] != 0 || marks.failures.repaired()[to_index(job)] >= 0) continue;
    if (running && !may_change(s, p, job, form_of(s, p, job))) {
      for (std::int32_t h = p.held_begin[job]; may_be_displaced(s, job) && h < p.held_end[job]; ++h) {
        const kernel::HeldRow& row = p.held[h];
        beyond_[to_index(p.node_type[row.node])] += std::popcount(row.mask & p.node_open[row.node]);
      }
      continue;
    }
    for (std::int32_t h = p.held_begin[job]; running && h < p.held_end[job]; ++h) {
      const kernel::HeldRow& row = p.held[h];
      capacity_[to_index(p.node_type[row.node])] += std::popcount(row.mask);
    }
    jobs_.push_back(job);
  }

  options_.clear();
  option_begin_.assign(1, 0);
  job_of_.assign(s.jobs.size(), -1);
  std::size_t kept = 0;
  for (const std::int32_t job : jobs_) {
    const std::size_t before = options_.size();
    const RunningForm form = marks.lost[to_index(job)] == 0 ? form_of(s, p, job) : RunningForm{};
    for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
      const kernel::DemandRow& demand = p.demands[p.options[o].demand];
      const bool current = form.is(p.options[o], p);
      if (!current && lowered_.is_below(s.job.queue[to_index(job)], demand.gpu_type)) continue;
      const std::int64_t most = capacity_[to_index(demand.gpu_type)] + beyond_[to_index(demand.gpu_type)];
      if (demand.gpus < 1 || demand.gpus > most || (marks.impossible[to_index(o)] != 0 && !current)) continue;
      options_.push_back({job, o - p.option_begin[job], demand.gpu_type, static_cast<std::int32_t>(demand.gpus), current});
    }
    if (options_.size() == before) continue;  // shares, and what is too large at present: tried last
    job_of_[to_index(job)] = static_cast<std::int32_t>(kept);
    jobs_[kept++] = job;
    option_begin_.push_back(static_cast<std::int32_t>(options_.size()));
  }
  jobs_.resize(kept);
}

void ShapeProblem::look(const StateImpl& s, const kernel::ProblemView& p, const PassInput::Marks& marks, const ChoiceSettings& settings) {
  lowered_.read(s.problem());
  collect(s, p, marks);
  values_.set(s, settings, {options_, p.option_begin, marks.impossible, marks.lost}, value_);
  type_.resize(options_.size());
  gpus_.resize(options_.size());
  for (std::size_t k = 0; k < options_.size(); ++k) {
    type_[k] = options_[k].type;
    gpus_[k] = options_[k].gpus;
  }
}

kernel::PriceView ShapeProblem::view() const { return shape_view(capacity_, option_begin_, type_, gpus_, value_); }

void ShapeProblem::choose(const StateImpl& s, const kernel::ProblemView& p, const PassInput::Marks& marks, const ChoiceOrder& order,
                          PlacementBackend& backend, StopToken& stop_token) {
  if (p.n_types > kernel::kMaxPriceTypes) {
    throw InvalidArgument("prices are found for at most " + std::to_string(kernel::kMaxPriceTypes) + " GPU types; the cluster has " +
                          std::to_string(p.n_types));
  }
  look(s, p, marks, order.settings);
  if (jobs_.size() > kernel::kMaxPriceJobs) {
    throw InvalidArgument("shapes are chosen for at most " + std::to_string(kernel::kMaxPriceJobs) + " jobs; " +
                          std::to_string(jobs_.size()) + " may be given others");
  }
  placeable_ = value_;
  wide_.assign(value_.size(), 0);
  choice_.option.assign(jobs_.size(), -1);
  choice_.moved.clear();
  choice_.moved.reserve(jobs_.size());  // a search fills it
  price_.assign(to_index(p.n_types), 0);
  used_.assign(to_index(p.n_types), 0);
  earlier_.clear();
  for (std::size_t t = 0; !order.kept.scalars.empty() && t < s.gpu_types.size(); ++t) {
    const auto known = order.kept.scalars.find(scalar_of(s.gpu_types[t]));
    earlier_.push_back(known == order.kept.scalars.end() ? 0 : known->second);
  }
  PriceTask task;
  task.problem = view();
  task.request = {order.settings.gap_ppm, order.settings.most_evaluations, false, earlier_.empty() ? nullptr : earlier_.data()};
  task.stop_token = &stop_token;
  by_price_ = order.policy == nullptr || order.policy->by_price();
  chosen_only_ = order.policy != nullptr && order.policy->chosen_only();
  const bool searches = order.settings.search.population > 0 || (order.policy != nullptr && order.policy->searches());
  const kernel::PriceRequest search = task.request;
  if (order.policy != nullptr) {
    task.request.bound_only = true;
    price_option_.assign(jobs_.size(), -1);
  }
  if (searches) {
    task.stop_token = nullptr;
  } else if (order.max_iterations > 0) {
    task.request.most_evaluations = static_cast<std::int32_t>(std::min<std::int64_t>(task.request.most_evaluations, order.max_iterations));
  }
  std::int32_t* const option = order.policy == nullptr ? choice_.option.data() : price_option_.data();
  const kernel::PriceResult result{option, price_.data(), used_.data(), &sum_, &bound_, &evaluations_};
  backend.price({&task, 1}, {&result, 1});
  bound_ = saturate(Wide{bound_} + beyond_at(price_));
  if (order.policy != nullptr) {
    const PlainFloats floats;
    order.policy->choose({s, order.kept, task.problem, options_, values_.shapes(), search, order.seed, order.max_iterations, &stop_token},
                         backend, choice_.option);
    keep_unknown();
  }
  work_ = order.policy != nullptr && searches ? order.policy->work() : evaluations_;
}

// A job that runs where its rate is not known keeps its GPUs, where the policy gives them to no other.
void ShapeProblem::keep_unknown() {
  left_.assign(capacity_.begin(), capacity_.end());
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    const std::int32_t k = choice_.option[j] < 0 ? -1 : option_begin_[j] + choice_.option[j];
    if (k >= 0) left_[to_index(type_[to_index(k)])] -= gpus_[to_index(k)];
  }
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    for (std::int32_t k = option_begin_[j]; choice_.option[j] < 0 && k < option_begin_[j + 1]; ++k) {
      std::int64_t& left = left_[to_index(type_[to_index(k)])];
      if (!options_[to_index(k)].current || values_.shapes()[to_index(k)].speed > 0 || gpus_[to_index(k)] > left) continue;
      left -= gpus_[to_index(k)];
      choice_.option[j] = k - option_begin_[j];
    }
  }
}

Wide ShapeProblem::beyond_at(std::span<const std::int64_t> price) const {
  Wide value = 0;
  for (std::size_t t = 0; t < price.size(); ++t) value += Wide{price[t]} * beyond_[t];
  return value;
}

// Row of one of a job's options in the choice, -1: none.
std::int32_t ShapeProblem::option_index(std::size_t job, std::int32_t option) const {
  for (std::int32_t k = option_begin_[job]; option >= 0 && k < option_begin_[job + 1]; ++k) {
    if (options_[to_index(k)].option == option) return k;
  }
  return -1;
}

bool ShapeProblem::choose_again(const ChoiceOrder& order, std::span<const ObtainedShape> obtained, PlacementBackend& backend,
                                StopToken& stop_token, JobChoice& again) {
  bool found_none = false;
  for (std::size_t j = 0; j < obtained.size(); ++j) {
    const std::int32_t wanted = choice_.option[j] < 0 ? -1 : option_begin_[j] + choice_.option[j];
    if (wanted < 0) continue;
    const ObtainedShape& has = obtained[j];
    std::uint8_t& wide = wide_[to_index(wanted)];
    if (option_index(j, has.option) == wanted && (!has.wide || wide != 0)) continue;
    const bool may_be_wide = wide == 0 && has.chosen_wide_value > 0;
    placeable_[to_index(wanted)] = may_be_wide ? has.chosen_wide_value : -1;  // never chosen
    wide = 1;
    found_none = true;
  }
  const bool searches = order.settings.search.population > 0;
  const std::int64_t all = order.settings.most_evaluations;
  const std::int64_t most = (order.max_iterations > 0 && !searches ? std::min(all, order.max_iterations) : all) - evaluations_;
  if (!found_none || most < 1 || (!searches && (stop_token.stopped_at >= 0 || stop_token.stop()))) return false;
  earlier_ = price_;
  again_price_.resize(price_.size());
  PriceTask task;
  task.problem = view();
  task.problem.value = placeable_.data();
  task.request = {order.settings.gap_ppm, static_cast<std::int32_t>(most), false, earlier_.data()};
  task.stop_token = searches ? nullptr : &stop_token;
  again.option.assign(jobs_.size(), -1);
  again.moved.clear();
  std::int64_t sum = 0, bound = 0;
  std::int32_t evaluations = 0;
  const kernel::PriceResult result{again.option.data(), again_price_.data(), used_.data(), &sum, &bound, &evaluations};
  backend.price({&task, 1}, {&result, 1});
  evaluations_ += evaluations;
  work_ = evaluations_;
  return true;
}

const std::string& ShapeProblem::scalar_of(const GpuType& type) const {
  scalar_ = kPriceOf;
  scalar_ += type.id;
  return scalar_;
}

void ShapeProblem::keep(const StateImpl& s, PolicyState& policy_state) const {
  for (auto one = policy_state.scalars.begin(); one != policy_state.scalars.end();) {  // types may have left
    if (one->first.rfind(kPriceOf, 0) != 0) {
      ++one;
      continue;
    }
    const auto same = [&](const GpuType& type) { return one->first == scalar_of(type); };
    one = std::any_of(s.gpu_types.begin(), s.gpu_types.end(), same) ? std::next(one) : policy_state.scalars.erase(one);
  }
  for (std::size_t t = 0; t < price_.size(); ++t) policy_state.scalars[scalar_of(s.gpu_types[t])] = price_[t];
}

Reason ShapeProblem::outbid(std::int32_t job) const {
  const std::int32_t j = job_of_[to_index(job)];
  if (chosen_only_ && j >= 0 && choice_.option[to_index(j)] < 0) {
    Reason reason;
    reason.code = ReasonCode::kNotChosen;
    return reason;
  }
  return !by_price_ || j < 0 || choice_.option[to_index(j)] >= 0 ? Reason{} : outbid_at(job, price_);
}

Reason ShapeProblem::outbid_at(std::int32_t job, const std::vector<std::int64_t>& price) const {
  Reason reason;
  const std::int32_t j = job_of_[to_index(job)];
  std::pair best_of{false, INT64_MIN};  // shapes in which it would not move count only where there are no others
  for (std::int32_t k = j < 0 ? 0 : option_begin_[to_index(j)]; k < (j < 0 ? 0 : option_begin_[to_index(j) + 1]); ++k) {
    const std::int64_t cost = price[to_index(type_[to_index(k)])] * gpus_[to_index(k)];
    const std::pair here{values_.shapes()[to_index(k)].speed > 0, value_[to_index(k)] - cost};
    if (here <= best_of) continue;
    best_of = here;
    reason.code = ReasonCode::kOutbid;
    reason.gpu_type = type_[to_index(k)];
    reason.members = gpus_[to_index(k)];
    reason.asked = cost;
    reason.best = value_[to_index(k)];
  }
  return best_of.second > 0 ? Reason{} : reason;
}

// The option in which a job of the choice runs; -1: none.
std::int32_t ShapeProblem::row_of(const StateImpl& s, const Plan& plan, const Decision& d) const {
  const std::int32_t j = job_of_[to_index(d.job)];
  if (j < 0 || !runs_now(d.action)) return -1;
  std::int64_t gpus = 0;
  std::int32_t type = -1;
  for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
    gpus += std::popcount(plan.entries[to_index(e)].gpus);
    type = s.node.type[to_index(plan.entries[to_index(e)].node)];
  }
  for (std::int32_t k = option_begin_[to_index(j)]; k < option_begin_[to_index(j) + 1]; ++k) {
    const kernel::OptionRow& row = s.jobs[to_index(d.job)].options[to_index(options_[to_index(k)].option)];
    if (row.shape == d.shape && type_[to_index(k)] == type && gpus_[to_index(k)] == gpus) return k;
  }
  return -1;
}

std::int64_t ShapeProblem::objective_value(const StateImpl& s, const ChoiceSettings& settings, const Plan& plan,
                                           std::vector<std::pair<std::string, std::int64_t>>& terms) {
  std::int64_t total = 0;
  row_.clear();
  for (const Decision& d : plan.decisions) {
    row_.push_back(row_of(s, plan, d));
    if (row_.back() >= 0) total += value_[to_index(row_.back())];
  }
  terms_.set(s, settings.terms, {options_, value_, values_, plan, row_});
  std::size_t counted = 0;
  for (const PlanTermInfo& one : plan_terms()) {
    if (!has_term(settings.terms, one.term) || !is_of_places(one.term)) continue;
    if (counted == terms.size()) terms.emplace_back();
    terms[counted].first = one.name;
    terms[counted].second = terms_.loss(one.term);
    total = saturating_add(total, -terms[counted++].second);
  }
  terms.resize(counted);
  return total;
}

void ShapeProblem::report(const StateImpl& s, const ChoiceSettings& settings, Plan& plan) {
  plan.bound.objective = objective_name(settings.objective);
  plan.bound.value = objective_value(s, settings, plan, plan.bound.terms);
  plan.bound.bound = bound_;
  plan.bound.prices.resize(price_.size());
  for (std::size_t t = 0; t < price_.size(); ++t) {
    plan.bound.prices[t].first = s.gpu_types[t].id;
    plan.bound.prices[t].second = price_[t];
  }
}

}  // namespace berth::core
