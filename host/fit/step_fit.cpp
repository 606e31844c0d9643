#include "host/fit/step_fit.hpp"

#include <fmt/format.h>
#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <tuple>
#include <utility>

#include "berth/error.hpp"

namespace berth::fit {
namespace {

constexpr double kBend = 0.1;  // of Huber's loss
constexpr int kMostStepEvaluations = 4000;
constexpr std::size_t kLeastSettings = 3;

constexpr std::size_t index_of(StepTerm term) { return static_cast<std::size_t>(term); }

using SettingKey = std::tuple<double, std::int32_t, std::int32_t, double, std::string>;
SettingKey key_of(const StepSetting& one) { return {one.batch, one.gpus, one.nodes, one.cores, one.co_runner}; }

/// Which coefficients the settings tell, and how large each may be.
struct Unknowns {
  std::vector<StepTerm> terms;
  std::vector<std::string> co_runners;
  std::vector<double> scale;  // of terms: seconds for a value of 1

  std::size_t size() const { return terms.size() + co_runners.size(); }
};

Unknowns unknowns_of(std::span<const StepMeasurement> measured, std::vector<std::string>& notes) {
  std::set<double> batches, cores;
  std::set<std::int32_t> on_node, on_nodes;
  bool alone = false;
  std::set<std::string> co_runners;
  std::vector<double> steps;
  double batch_sum = 0;
  for (const StepMeasurement& one : measured) {
    steps.push_back(one.step_s);
    batches.insert(one.batch);
    batch_sum += one.batch;
    if (one.cores > 0) cores.insert(one.cores);
    alone = alone || one.gpus == 1;
    if (one.gpus > 1) (one.nodes > 1 ? on_nodes : on_node).insert(one.gpus);
    if (!one.co_runner.empty()) co_runners.insert(one.co_runner);
  }
  std::nth_element(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2), steps.end());
  const double step = steps[steps.size() / 2], batch = std::max(1.0, batch_sum / static_cast<double>(measured.size()));
  Unknowns unknown;
  const auto add = [&](StepTerm term, double scale) {
    unknown.terms.push_back(term);
    unknown.scale.push_back(scale);
  };
  if (!alone) notes.emplace_back("one GPU alone was not measured: what the fewest workers send counts as a part of the step");
  if (batches.size() > 1) {
    add(StepTerm::kSample, step / batch);
  } else if (*batches.begin() > 0) {
    notes.push_back(fmt::format("only batch {:g} was measured: other batches are not predicted", *batches.begin()));
  }
  add(StepTerm::kFixed, step);
  if (cores.size() > 1) add(StepTerm::kInput, step / batch * *cores.begin());
  const auto add_reduce = [&](const std::set<std::int32_t>& workers, StepTerm volume, StepTerm worker) {
    // Without one GPU alone, what the least number of workers takes is not separated from the rest.
    const std::size_t known = workers.size() + (alone ? 1 : 0);
    if (known > 1) add(volume, step);
    if (known > 2) add(worker, step / *workers.rbegin());
  };
  add_reduce(on_node, StepTerm::kNodeVolume, StepTerm::kNodeWorker);
  add_reduce(on_nodes, StepTerm::kFabricVolume, StepTerm::kFabricWorker);
  unknown.co_runners.assign(co_runners.begin(), co_runners.end());
  return unknown;
}

class StepProblem {
 public:
  StepProblem(std::span<const StepMeasurement> measured, const Unknowns& unknown, StepModel start)
      : measured_(measured), unknown_(unknown), model_(std::move(start)) {}

  const StepModel& model_at(const double* values) {
    for (std::size_t i = 0; i < unknown_.terms.size(); ++i) model_.seconds.at(index_of(unknown_.terms[i])) = values[i] * unknown_.scale[i];
    for (std::size_t i = 0; i < unknown_.co_runners.size(); ++i)
      model_.slowdown[unknown_.co_runners[i]] = values[unknown_.terms.size() + i];
    return model_;
  }

  /// The mean loss, and its gradient where one is wanted.
  double value(const double* values, double* gradient) {
    (void)model_at(values);
    if (gradient != nullptr) std::fill(gradient, gradient + unknown_.size(), 0.0);
    double sum = 0;
    for (const StepMeasurement& one : measured_) {
      const double error = step_seconds(model_, one) / one.step_s - 1;
      const bool bent = std::abs(error) > kBend;
      sum += bent ? kBend * (std::abs(error) - kBend / 2) : error * error / 2;
      if (gradient != nullptr) slope(one, bent ? std::copysign(kBend, error) : error, gradient);
    }
    return sum / static_cast<double>(measured_.size());
  }

 private:
  // The derivative of the loss by each value. Where compute and input take as long, that of compute.
  void slope(const StepMeasurement& one, double of_error, double* gradient) const {
    const double batch = model_.has_batch ? one.batch : 1;
    const auto other = model_.slowdown.find(one.co_runner);
    const double slower = other == model_.slowdown.end() ? 0 : other->second;
    const double alone = model_.seconds.at(index_of(StepTerm::kSample)) * batch + model_.seconds.at(index_of(StepTerm::kFixed));
    double cores = one.cores;
    if (model_.saturation > 0) cores = cores > 0 ? std::min(cores, model_.saturation) : model_.saturation;
    const double input = cores > 0 ? model_.seconds.at(index_of(StepTerm::kInput)) * batch / cores : 0;
    const bool computes = alone * (1 + slower) >= input;
    const double others = one.gpus - 1, volume = 2 * others / one.gpus;
    const double factor = of_error / one.step_s / static_cast<double>(measured_.size());
    for (std::size_t i = 0; i < unknown_.terms.size(); ++i) {
      double by = 0;
      switch (unknown_.terms[i]) {
        case StepTerm::kSample:
          by = computes ? batch * (1 + slower) : 0;
          break;
        case StepTerm::kFixed:
          by = computes ? 1 + slower : 0;
          break;
        case StepTerm::kInput:
          by = computes || cores <= 0 ? 0 : batch / cores;
          break;
        case StepTerm::kNodeVolume:
          by = one.nodes > 1 ? 0 : volume;
          break;
        case StepTerm::kNodeWorker:
          by = one.nodes > 1 ? 0 : others;
          break;
        case StepTerm::kFabricVolume:
          by = one.nodes > 1 ? volume : 0;
          break;
        case StepTerm::kFabricWorker:
          by = one.nodes > 1 ? others : 0;
          break;
      }
      gradient[i] += factor * by * unknown_.scale[i];
    }
    for (std::size_t i = 0; i < unknown_.co_runners.size(); ++i) {
      if (computes && unknown_.co_runners[i] == one.co_runner) gradient[unknown_.terms.size() + i] += factor * alone;
    }
  }

  std::span<const StepMeasurement> measured_;
  const Unknowns& unknown_;
  StepModel model_;
};

double step_value(unsigned, const double* values, double* gradient, void* problem) {
  return static_cast<StepProblem*>(problem)->value(values, gradient);
}

/// Moves `values` to a lower loss, where the algorithm finds one.
void descend(nlopt_algorithm algorithm, StepProblem& problem, std::vector<double>& values) {
  const std::unique_ptr<nlopt_opt_s, void (*)(nlopt_opt)> search(nlopt_create(algorithm, static_cast<unsigned>(values.size())),
                                                                 nlopt_destroy);
  if (search == nullptr) throw std::bad_alloc();
  nlopt_set_min_objective(search.get(), step_value, &problem);
  nlopt_set_lower_bounds1(search.get(), 0);
  nlopt_set_upper_bounds1(search.get(), 1e6);
  nlopt_set_ftol_rel(search.get(), 1e-13);
  nlopt_set_xtol_rel(search.get(), 1e-11);
  nlopt_set_maxeval(search.get(), kMostStepEvaluations);
  std::vector<double> found = values;
  double unused = 0;
  const nlopt_result result = nlopt_optimize(search.get(), found.data(), &unused);
  if (result == NLOPT_OUT_OF_MEMORY) throw std::bad_alloc();
  // Where rounding ends the search, the result so far is still valid.
  if (result < 0 && result != NLOPT_ROUNDOFF_LIMITED && result != NLOPT_FAILURE)
    throw InternalError(fmt::format("the fit fails: {}", nlopt_result_to_string(result)));
  for (double& value : found) value = std::max(0.0, value);
  if (problem.value(found.data(), nullptr) < problem.value(values.data(), nullptr)) values = std::move(found);
}

/// The best of two starts: steps that compute, and steps that wait for input.
std::pair<double, StepModel> best_model(std::span<const StepMeasurement> measured, const Unknowns& unknown, const StepModel& start) {
  StepProblem problem(measured, unknown, start);
  std::pair<double, StepModel> best{HUGE_VAL, start};
  const bool input = std::count(unknown.terms.begin(), unknown.terms.end(), StepTerm::kInput) > 0;
  for (const bool waits : {false, true}) {
    if (waits && !input) break;
    std::vector<double> values(unknown.size(), 0.1);
    for (std::size_t i = 0; i < unknown.terms.size(); ++i) {
      if (unknown.terms[i] == StepTerm::kFixed || unknown.terms[i] == StepTerm::kSample) values[i] = waits ? 0.1 : 0.5;
      if (unknown.terms[i] == StepTerm::kInput) values[i] = waits ? 1 : 0.1;
    }
    // The loss has kinks where compute and input take as long: a method without gradients goes on from there.
    descend(NLOPT_LD_SLSQP, problem, values);
    if (input) descend(NLOPT_LN_SBPLX, problem, values);
    constexpr int kMostRounds = 20;
    constexpr double kLess = 0.999;
    double loss = problem.value(values.data(), nullptr);
    for (int round = 0; round < kMostRounds; ++round) {
      descend(NLOPT_LD_LBFGS, problem, values);
      descend(NLOPT_LD_SLSQP, problem, values);
      const double less = problem.value(values.data(), nullptr);
      const bool stays = less >= kLess * loss;
      loss = less;
      if (stays) break;
    }
    if (loss < best.first) best = {loss, problem.model_at(values.data())};
  }
  return best;
}

StepRange range_of(std::span<const StepMeasurement> measured) {
  StepRange range;
  range.least_batch = range.most_batch = measured.front().batch;
  for (const StepMeasurement& one : measured) {
    range.least_batch = std::min(range.least_batch, one.batch);
    range.most_batch = std::max(range.most_batch, one.batch);
    if (one.batch >= 1 && one.batch <= INT32_MAX && one.batch == std::floor(one.batch))
      range.batches.insert(static_cast<std::int32_t>(one.batch));
    (one.nodes <= 1 ? range.on_node : range.on_nodes).insert(one.gpus);
    if (one.cores > 0) {
      range.least_cores = range.most_cores == 0 ? one.cores : std::min(range.least_cores, one.cores);
      range.most_cores = std::max(range.most_cores, one.cores);
    }
    range.most_nodes = std::max(range.most_nodes, one.nodes);
    if (one.nodes <= 1) {
      range.least_on_node = range.most_on_node == 0 ? one.gpus : std::min(range.least_on_node, one.gpus);
      range.most_on_node = std::max(range.most_on_node, one.gpus);
    } else {
      range.least_on_nodes = range.most_on_nodes == 0 ? one.gpus : std::min(range.least_on_nodes, one.gpus);
      range.most_on_nodes = std::max(range.most_on_nodes, one.gpus);
    }
  }
  return range;
}

}  // namespace

std::string setting_text(const StepSetting& one) {
  std::string text = fmt::format("{} GPU{} on {} node{}", one.gpus, one.gpus == 1 ? "" : "s", one.nodes, one.nodes == 1 ? "" : "s");
  if (one.batch > 0) text += fmt::format(", batch {:g}", one.batch);
  if (one.cores > 0) text += fmt::format(", {:g} cores a GPU", one.cores);
  if (!one.co_runner.empty()) text += fmt::format(", with {}", one.co_runner);
  return text;
}

namespace {

void note_contradictions(std::span<const StepMeasurement> measured, double contradiction, std::vector<std::string>& notes) {
  std::map<SettingKey, std::pair<const StepMeasurement*, const StepMeasurement*>> by_setting;
  for (const StepMeasurement& one : measured) {
    auto& [least, most] = by_setting.try_emplace(key_of(one), &one, &one).first->second;
    if (one.step_s < least->step_s) least = &one;
    if (one.step_s > most->step_s) most = &one;
  }
  for (const auto& [key, both] : by_setting) {
    const auto& [least, most] = both;
    if (most->step_s > least->step_s * (1 + contradiction))
      notes.push_back(fmt::format("measurements contradict each other: {:.6g} s and {:.6g} s for {} (lines {} and {})", least->step_s,
                                  most->step_s, setting_text(*most), least->line, most->line));
  }
}

// What a straight line through the batches would say, before it is bent to 0 or more.
void note_intercept(std::span<const StepMeasurement> measured, const StepModel& model, std::vector<std::string>& notes) {
  if (model.seconds.at(index_of(StepTerm::kFixed)) > 0 || model.seconds.at(index_of(StepTerm::kSample)) <= 0) return;
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const StepMeasurement& one : measured) {
    if (one.gpus != 1 || !one.co_runner.empty()) continue;
    n += 1, x += one.batch, y += one.step_s, xx += one.batch * one.batch, xy += one.batch * one.step_s;
  }
  const double spread = n * xx - x * x;
  if (n < 2 || spread <= 0) return;
  const double intercept = (y * xx - x * xy) / spread;
  if (intercept < 0)
    notes.push_back(fmt::format("a line through the batches on one GPU would begin at {:.6g} s for batch 0: it begins at 0", intercept));
}

/// One of each setting, with the median time; of an even number the longer of the two in the middle.
std::vector<StepMeasurement> medians_of(std::span<const StepMeasurement> measured) {
  std::map<SettingKey, std::vector<StepMeasurement>> by_setting;
  for (const StepMeasurement& one : measured) by_setting[key_of(one)].push_back(one);
  std::vector<StepMeasurement> medians;
  for (auto& [key, all] : by_setting) {
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end(),
                     [](const StepMeasurement& a, const StepMeasurement& b) { return a.step_s < b.step_s; });
    medians.push_back(*middle);
  }
  return medians;
}

void judge(std::span<const StepMeasurement> measured, StepFit& fit) {
  double mean = 0;
  for (const StepMeasurement& one : measured) mean += one.step_s / static_cast<double>(measured.size());
  double left = 0, all = 0;
  for (const StepMeasurement& one : measured) {
    const double predicted = step_seconds(fit.model, one), truth = one.step_s;
    left += (predicted - truth) * (predicted - truth);
    all += (truth - mean) * (truth - mean);
  }
  fit.r2 = all > 0 ? 1 - left / all : left > 0 ? 0 : 1;
  fit.worst = measured.front();
  for (StepMeasurement& one : medians_of(measured)) {
    const double error = std::abs(step_seconds(fit.model, one) / one.step_s - 1);
    fit.mean_error += error / static_cast<double>(fit.settings);
    if (error <= fit.largest_error) continue;
    fit.largest_error = error;
    fit.worst = std::move(one);
  }
}

}  // namespace

StepFit fit_steps(std::span<const StepMeasurement> measured, double contradiction) {
  StepFit fit;
  fit.measurements = measured.size();
  std::set<SettingKey> settings;
  for (const StepMeasurement& one : measured) settings.insert(key_of(one));
  fit.settings = settings.size();
  if (fit.settings < kLeastSettings)
    throw InvalidArgument(fmt::format("{} measured: at least {} are needed, such as one worker, two on a node, and two nodes",
                                      fit.settings == 1 ? "1 setting is" : fmt::format("{} settings are", fit.settings), kLeastSettings));
  const Unknowns unknown = unknowns_of(measured, fit.notes);
  fit.coefficients = unknown.size();
  if (fit.settings < fit.coefficients)
    throw InvalidArgument(
        fmt::format("{} settings do not determine {} coefficients: measure more batches or placements", fit.settings, fit.coefficients));
  if (fit.settings == fit.coefficients)
    fit.notes.push_back(fmt::format("there are as many settings as coefficients, {}: errors say nothing", fit.coefficients));

  StepModel start;
  start.gpu_type = measured.front().gpu_type;
  start.range = range_of(measured);
  start.has_batch = start.range.most_batch > 0;
  auto best = best_model(measured, unknown, start);
  std::set<double> cores;
  for (const StepMeasurement& one : measured) {
    if (one.cores > 0) cores.insert(one.cores);
  }
  // Input may get no faster beyond a number of cores: one of those between the least and the most.
  for (const double saturation : cores) {
    if (cores.size() < 3 || saturation == *cores.begin() || saturation == *cores.rbegin()) continue;
    start.saturation = saturation;
    constexpr double kClearly = 0.99;
    if (auto other = best_model(measured, unknown, start); other.first < kClearly * best.first) best = std::move(other);
  }
  fit.model = std::move(best.second);
  note_contradictions(measured, contradiction, fit.notes);
  note_intercept(measured, fit.model, fit.notes);
  judge(measured, fit);
  return fit;
}

std::vector<LeftOutPlacement> leave_placements_out(std::span<const StepMeasurement> measured) {
  std::set<std::pair<std::int32_t, std::int32_t>> placements;
  for (const StepMeasurement& one : measured) placements.emplace(one.gpus, one.nodes);
  std::vector<LeftOutPlacement> rows;
  for (const auto& [gpus, nodes] : placements) {
    std::vector<StepMeasurement> others;
    std::vector<const StepMeasurement*> own;
    for (const StepMeasurement& one : measured) {
      if (one.gpus == gpus && one.nodes == nodes) {
        own.push_back(&one);
      } else {
        others.push_back(one);
      }
    }
    LeftOutPlacement row;
    row.gpus = gpus, row.nodes = nodes, row.measurements = own.size();
    // What is between nodes is shown by placements on several nodes alone, and what is inside one by those on one.
    const bool shown = gpus == 1 || std::any_of(others.begin(), others.end(), [&, several = nodes > 1](const StepMeasurement& one) {
                         return one.gpus > 1 && (one.nodes > 1) == several;
                       });
    if (shown) {
      try {
        const StepModel model = fit_steps(others, HUGE_VAL).model;
        double sum = 0, most = 0;
        for (const StepMeasurement* one : own) {
          const double error = std::abs(step_seconds(model, *one) / one->step_s - 1);
          sum += error;
          most = std::max(most, error);
          row.beyond = row.beyond || !beyond_range(model, *one).empty();
        }
        row.mean_error = sum / static_cast<double>(own.size());
        row.largest_error = most;
      } catch (const InvalidArgument&) {
        row.mean_error.reset();  // too few are left
      }
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace berth::fit
