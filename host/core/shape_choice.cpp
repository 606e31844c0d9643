#include "host/core/shape_choice.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <string>
#include <utility>

#include "berth/error.hpp"
#include "host/core/at.hpp"
#include "host/core/choice_view.hpp"
#include "host/core/plain_floats.hpp"
#include "host/core/state_impl.hpp"
#include "host/core/wide.hpp"

namespace berth::core {
namespace {

constexpr const char* kPriceOf = "price/";  // then the id of a GPU type

/// Whether all that a job holds could be given to others: nodes that take nobody new keep whom they have.
bool holds_open_nodes(const kernel::ProblemView& p, std::int32_t slot) {
  for (std::int32_t h = p.held_begin[slot]; h < p.held_begin[slot + 1]; ++h) {
    if ((p.held[h].mask & ~p.node_open[p.held[h].node]) != 0) return false;
  }
  return true;
}

bool may_be_displaced(const StateImpl& s, std::int32_t slot) { return s.job.victim_from[at(slot)] <= s.now; }

std::int64_t held_gpus(const kernel::ProblemView& p, std::int32_t slot) {
  std::int64_t gpus = 0;
  for (std::int32_t h = p.held_begin[slot]; h < p.held_begin[slot + 1]; ++h) {
    gpus += p.held[h].share_ppm == kWholeGpu ? std::popcount(p.held[h].mask) : 0;
  }
  return gpus;
}

/// How a job runs; no option is that of one that does not.
struct RunningForm {
  std::int32_t shape = -1, type = -1;
  std::int64_t gpus = 0;

  bool is(const kernel::OptionRow& option, const kernel::ProblemView& p) const {
    return option.shape == shape && p.demands[option.demand].gpu_type == type && p.demands[option.demand].gpus == gpus;
  }
};

RunningForm form_of(const StateImpl& s, const kernel::ProblemView& p, std::int32_t slot) {
  if (s.job.running[at(slot)] == 0) return {};
  return {s.job.shape[at(slot)], s.job.held_type[at(slot)], held_gpus(p, slot)};
}

// Who may not be displaced stays. So does who runs partly on nodes that take nobody new; on shares, as a price is one of whole GPUs; and
// in a form that none of its options has, such as a gang mended with fewer members: it could not be chosen to stay.
bool may_change(const StateImpl& s, const kernel::ProblemView& p, std::int32_t slot, const RunningForm& form) {
  if (!may_be_displaced(s, slot) || form.gpus == 0 || !holds_open_nodes(p, slot)) return false;
  const kernel::OptionRow* const first = p.options + p.option_begin[slot];
  const kernel::OptionRow* const last = p.options + p.option_begin[slot + 1];
  return std::any_of(first, last, [&](const kernel::OptionRow& option) { return form.is(option, p); });
}

}  // namespace

void ShapeChoice::collect(const StateImpl& s, const kernel::ProblemView& p, const WalkInput::Marks& marks) {
  // What works and may be given to somebody: free now, or held by a job that may have to leave.
  capacity_.assign(at(p.n_types), 0);
  for (std::int32_t n = 0; n < p.n_nodes; ++n) capacity_[at(p.node_type[n])] += std::popcount(p.node_free[n]);
  beyond_.assign(at(p.n_types), 0);
  slots_.clear();
  for (const std::int32_t slot : s.job_order) {
    const bool running = s.job.running[at(slot)] != 0 && marks.lost[at(slot)] == 0;
    if (marks.declined[at(slot)] != 0 || marks.mended[at(slot)] >= 0) continue;
    if (running && !may_change(s, p, slot, form_of(s, p, slot))) {
      for (std::int32_t h = p.held_begin[slot]; may_be_displaced(s, slot) && h < p.held_begin[slot + 1]; ++h) {
        const kernel::HeldRow& row = p.held[h];
        beyond_[at(p.node_type[row.node])] += std::popcount(row.mask & p.node_open[row.node]);
      }
      continue;
    }
    for (std::int32_t h = p.held_begin[slot]; running && h < p.held_begin[slot + 1]; ++h) {
      const kernel::HeldRow& row = p.held[h];
      capacity_[at(p.node_type[row.node])] += std::popcount(row.mask);
    }
    slots_.push_back(slot);
  }

  options_.clear();
  option_begin_.assign(1, 0);
  job_of_.assign(s.jobs.size(), -1);
  std::size_t kept = 0;
  for (const std::int32_t slot : slots_) {
    const std::size_t before = options_.size();
    const RunningForm form = marks.lost[at(slot)] == 0 ? form_of(s, p, slot) : RunningForm{};
    for (std::int32_t o = p.option_begin[slot]; o < p.option_begin[slot + 1]; ++o) {
      const kernel::DemandRow& demand = p.demands[p.options[o].demand];
      const bool current = form.is(p.options[o], p);
      const std::int64_t most = capacity_[at(demand.gpu_type)] + beyond_[at(demand.gpu_type)];
      if (demand.gpus < 1 || demand.gpus > most || (marks.impossible[at(o)] != 0 && !current)) continue;
      options_.push_back({slot, o - p.option_begin[slot], demand.gpu_type, static_cast<std::int32_t>(demand.gpus), current});
    }
    if (options_.size() == before) continue;  // shares, and what is too large as things are: tried last
    job_of_[at(slot)] = static_cast<std::int32_t>(kept);
    slots_[kept++] = slot;
    option_begin_.push_back(static_cast<std::int32_t>(options_.size()));
  }
  slots_.resize(kept);
}

void ShapeChoice::look(const StateImpl& s, const kernel::ProblemView& p, const WalkInput::Marks& marks, const ChoiceSettings& settings) {
  collect(s, p, marks);
  values_.set(s, settings, {options_, p.option_begin, marks.impossible, marks.lost}, value_);
  type_.resize(options_.size());
  gpus_.resize(options_.size());
  for (std::size_t k = 0; k < options_.size(); ++k) {
    type_[k] = options_[k].type;
    gpus_[k] = options_[k].gpus;
  }
}

kernel::ChoiceView ShapeChoice::view() const { return choice_view(capacity_, option_begin_, type_, gpus_, value_); }

void ShapeChoice::choose(const StateImpl& s, const kernel::ProblemView& p, const WalkInput::Marks& marks, const ChoiceOrder& order,
                         PlacementBackend& backend, Watch& watch) {
  if (p.n_types > kernel::kMaxChoiceTypes) {
    throw InvalidArgument("prices are found for at most " + std::to_string(kernel::kMaxChoiceTypes) + " GPU types; the cluster has " +
                          std::to_string(p.n_types));
  }
  look(s, p, marks, order.settings);
  if (slots_.size() > kernel::kMaxChoiceJobs) {
    throw InvalidArgument("shapes are chosen for at most " + std::to_string(kernel::kMaxChoiceJobs) + " jobs; " +
                          std::to_string(slots_.size()) + " may be given others");
  }
  placeable_ = value_;
  chosen_.assign(slots_.size(), -1);
  moved_.clear();
  price_.assign(at(p.n_types), 0);
  used_.assign(at(p.n_types), 0);
  earlier_.clear();
  for (std::size_t t = 0; !order.kept.scalars.empty() && t < s.gpu_types.size(); ++t) {
    const auto known = order.kept.scalars.find(scalar_of(s.gpu_types[t]));
    earlier_.push_back(known == order.kept.scalars.end() ? 0 : known->second);
  }
  ChoiceTask task;
  task.problem = view();
  task.request = {order.settings.gap_ppm, order.settings.most_evaluations, false, earlier_.empty() ? nullptr : earlier_.data()};
  task.watch = &watch;
  by_price_ = order.policy == nullptr || order.policy->by_price();
  chosen_only_ = order.policy != nullptr && order.policy->chosen_only();
  const bool searches = order.settings.search.population > 0 || (order.policy != nullptr && order.policy->searches());
  const kernel::ChoiceRequest search = task.request;
  if (order.policy != nullptr) {
    task.request.bound_only = true;
    other_chosen_.assign(slots_.size(), -1);
  }
  if (searches) {
    task.watch = nullptr;
  } else if (order.work_limit > 0) {
    task.request.most_evaluations = static_cast<std::int32_t>(std::min<std::int64_t>(task.request.most_evaluations, order.work_limit));
  }
  std::int32_t* const option = order.policy == nullptr ? chosen_.data() : other_chosen_.data();
  const kernel::ChoiceResult result{option, price_.data(), used_.data(), &sum_, &bound_, &evaluations_};
  backend.choose({&task, 1}, {&result, 1});
  bound_ = saturate(Wide{bound_} + beyond_at(price_));
  if (order.policy != nullptr) {
    const PlainFloats floats;
    order.policy->choose({s, order.kept, task.problem, options_, values_.shapes(), search, order.seed, order.work_limit, &watch}, backend,
                         chosen_);
  }
  work_ = order.policy != nullptr && searches ? order.policy->work() : evaluations_;
}

Wide ShapeChoice::beyond_at(std::span<const std::int64_t> price) const {
  Wide worth = 0;
  for (std::size_t t = 0; t < price.size(); ++t) worth += Wide{price[t]} * beyond_[t];
  return worth;
}

// Of a job's options of the choice, -1: none.
std::int32_t ShapeChoice::row_with(std::size_t job, std::int32_t option) const {
  for (std::int32_t k = option_begin_[job]; option >= 0 && k < option_begin_[job + 1]; ++k) {
    if (options_[at(k)].option == option) return k;
  }
  return -1;
}

std::int64_t ShapeChoice::value_in(std::span<const std::int32_t> obtained) const {
  std::int64_t sum = 0;
  for (std::size_t j = 0; j < obtained.size(); ++j) {
    const std::int32_t k = row_with(j, obtained[j]);
    sum += k < 0 ? 0 : value_[at(k)];
  }
  return sum;
}

bool ShapeChoice::choose_again(const ChoiceOrder& order, std::span<const std::int32_t> obtained, PlacementBackend& backend, Watch& watch) {
  bool found_none = false;
  for (std::size_t j = 0; j < obtained.size(); ++j) {
    const std::int32_t wanted = chosen_[j] < 0 ? -1 : option_begin_[j] + chosen_[j];
    if (wanted < 0 || row_with(j, obtained[j]) == wanted) continue;
    placeable_[at(wanted)] = -1;  // never chosen
    found_none = true;
  }
  const bool searches = order.settings.search.population > 0;
  const std::int64_t all = order.settings.most_evaluations;
  const std::int64_t most = (order.work_limit > 0 && !searches ? std::min(all, order.work_limit) : all) - evaluations_;
  if (!found_none || most < 1 || (!searches && (watch.stopped_at >= 0 || watch.stop()))) return false;
  earlier_ = price_;
  again_price_.resize(price_.size());
  ChoiceTask task;
  task.problem = view();
  task.problem.value = placeable_.data();
  task.request = {order.settings.gap_ppm, static_cast<std::int32_t>(most), false, earlier_.data()};
  task.watch = searches ? nullptr : &watch;
  other_chosen_.assign(slots_.size(), -1);
  std::int64_t sum = 0, bound = 0;
  std::int32_t evaluations = 0;
  const kernel::ChoiceResult result{other_chosen_.data(), again_price_.data(), used_.data(), &sum, &bound, &evaluations};
  backend.choose({&task, 1}, {&result, 1});
  chosen_.swap(other_chosen_);  // only now: another backend may have to answer
  evaluations_ += evaluations;
  work_ = evaluations_;
  return true;
}

const std::string& ShapeChoice::scalar_of(const GpuType& type) const {
  scalar_ = kPriceOf;
  scalar_ += type.id;
  return scalar_;
}

void ShapeChoice::keep(const StateImpl& s, PolicyState& policy_state) const {
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

Reason ShapeChoice::outbid(std::int32_t slot) const {
  const std::int32_t j = job_of_[at(slot)];
  if (chosen_only_ && j >= 0 && chosen_[at(j)] < 0) {
    Reason reason;
    reason.code = ReasonCode::kNotChosen;
    return reason;
  }
  return !by_price_ || j < 0 || chosen_[at(j)] >= 0 ? Reason{} : outbid_at(slot, price_);
}

Reason ShapeChoice::outbid_at(std::int32_t slot, const std::vector<std::int64_t>& price) const {
  Reason reason;
  const std::int32_t j = job_of_[at(slot)];
  std::pair best_of{false, INT64_MIN};  // shapes in which it would not move speak only where there are no others
  for (std::int32_t k = j < 0 ? 0 : option_begin_[at(j)]; k < (j < 0 ? 0 : option_begin_[at(j) + 1]); ++k) {
    const std::int64_t cost = price[at(type_[at(k)])] * gpus_[at(k)];
    const std::pair here{values_.shapes()[at(k)].speed > 0, value_[at(k)] - cost};
    if (here <= best_of) continue;
    best_of = here;
    reason.code = ReasonCode::kOutbid;
    reason.gpu_type = type_[at(k)];
    reason.pieces = gpus_[at(k)];
    reason.asked = cost;
    reason.best = value_[at(k)];
  }
  return best_of.second > 0 ? Reason{} : reason;
}

// The option in which a job of the choice runs; -1: none.
std::int32_t ShapeChoice::row_of(const StateImpl& s, const Plan& plan, const Decision& d) const {
  const std::int32_t j = job_of_[at(d.job)];
  if (j < 0 || !runs_now(d.action)) return -1;
  std::int64_t gpus = 0;
  std::int32_t type = -1;
  for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
    gpus += std::popcount(plan.entries[at(e)].gpus);
    type = s.node.type[at(plan.entries[at(e)].node)];
  }
  for (std::int32_t k = option_begin_[at(j)]; k < option_begin_[at(j) + 1]; ++k) {
    const kernel::OptionRow& row = s.jobs[at(d.job)].options[at(options_[at(k)].option)];
    if (row.shape == d.shape && type_[at(k)] == type && gpus_[at(k)] == gpus) return k;
  }
  return -1;
}

std::int64_t ShapeChoice::worth_of(const StateImpl& s, const ChoiceSettings& settings, const Plan& plan,
                                   std::vector<std::pair<std::string, std::int64_t>>& terms) {
  std::int64_t worth = 0;
  row_.clear();
  for (const Decision& d : plan.decisions) {
    row_.push_back(row_of(s, plan, d));
    if (row_.back() >= 0) worth += value_[at(row_.back())];
  }
  terms_.set(s, settings.terms, {options_, value_, values_, plan, row_});
  std::size_t counted = 0;
  for (const PlanTermInfo& one : plan_terms()) {
    if (!has_term(settings.terms, one.term) || !is_of_places(one.term)) continue;
    if (counted == terms.size()) terms.emplace_back();
    terms[counted].first = one.name;
    terms[counted].second = terms_.loss(one.term);
    worth = saturating_add(worth, -terms[counted++].second);
  }
  terms.resize(counted);
  return worth;
}

void ShapeChoice::report(const StateImpl& s, const ChoiceSettings& settings, Plan& plan) {
  plan.bound.objective = objective_name(settings.objective);
  plan.bound.value = worth_of(s, settings, plan, plan.bound.terms);
  plan.bound.bound = bound_;
  plan.bound.prices.resize(price_.size());
  for (std::size_t t = 0; t < price_.size(); ++t) {
    plan.bound.prices[t].first = s.gpu_types[t].id;
    plan.bound.prices[t].second = price_[t];
  }
}

}  // namespace berth::core
