#include "host/io/traces/pollux.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "berth/error.hpp"
#include "berth/units.hpp"
#include "host/core/base/wide.hpp"
#include "host/io/files/measured_number.hpp"

namespace berth::io {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kLongestStepNs = 1'000'000 * kSecondNs;

struct Known {
  std::string_view name;
  std::int64_t epochs;
  std::int32_t most_per_gpu;  // samples; 0: the largest measured number
};
/// What the artifact's simulator trains, and with which limit. This is from its configuration, not in the files.
constexpr std::array<Known, 6> kKnown{
    {{"bert", 2, 0}, {"cifar10", 100, 0}, {"deepspeech2", 80, 0}, {"imagenet", 90, 0}, {"ncf", 10, 0}, {"yolov3", 50, 8}}};

const Known* known(std::string_view application) {
  const auto found = std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& one) { return one.name == application; });
  return found == kKnown.end() ? nullptr : &*found;
}

class StepColumns {
 public:
  explicit StepColumns(const CsvReader& row)
      : batch_(row.column("local_bsz")), step_(row.column("step_time")), sync_(row.column("sync_time")) {}

  // @param repeats  whether a batch may have been measured more than once: the first time counts
  void read(const CsvReader& row, PolluxSteps& out, bool repeats) const {
    const auto batch = static_cast<std::int32_t>(row.integer(batch_, 1, INT32_MAX));
    const PolluxStep step{row.measured(step_, 9), row.measured(sync_, 9)};
    if (step.step_ns < 1 || step.step_ns > kLongestStepNs) row.refuse(step_, "seconds above 0");
    if (step.sync_ns >= step.step_ns) row.refuse(sync_, "less than step_time");
    if (!out.emplace(batch, step).second && !repeats) row.refuse(batch_, "each batch once for a placement");
  }

 private:
  int batch_, step_, sync_;
};

/// A row of a validation. The statistics have any magnitude (1e-10 to 1e17). Only their ratio counts, so both get as many places as fit.
PolluxEpoch read_epoch(const CsvReader& row, const std::vector<PolluxEpoch>& before, std::int32_t batch, std::int32_t initial_batch) {
  PolluxEpoch epoch;
  const int progress = row.column("progress"), sqr_column = row.column("grad_sqr"), var_column = row.column("grad_var");
  epoch.progress_micro = row.measured(progress, 6);
  if (epoch.progress_micro <= (before.empty() ? 0 : before.back().progress_micro)) row.refuse(progress, "progress in every epoch");
  std::optional<std::int64_t> sqr, var;
  for (int places = 18; places > 0 && (!sqr || !var); --places) {
    sqr = parse_measured(row.text(sqr_column), places);
    var = parse_measured(row.text(var_column), places);
  }
  if (!sqr || !var) {
    sqr = row.measured(sqr_column, 0);
    var = row.measured(var_column, 0);
  }
  if (*sqr == 0 && *var == 0) row.refuse(var_column, "a gradient: its square or its variance above 0");
  // (var + sqr) / (var / k + sqr) for k = batch / initial batch.
  const core::Wide below = core::Wide{*var} * initial_batch + core::Wide{*sqr} * batch;
  const core::Wide above = (core::Wide{*var} + *sqr) * batch;
  epoch.gain_micro = core::saturate(core::floor_div(above * 1'000'000, std::max<core::Wide>(below, 1)));  // below 2^114
  if (epoch.gain_micro < 1) row.refuse(sqr_column, "a gradient whose steps get on");
  return epoch;
}

/// GPUs per node, fuller nodes last, as in placements.csv: 6 on nodes of 4 -> "24".
std::string compact(std::int32_t gpus, std::int32_t node_gpus) {
  std::string digits;
  if (gpus % node_gpus != 0) digits = fmt::format("{}", gpus % node_gpus);
  return digits + std::string(static_cast<std::size_t>(gpus / node_gpus), static_cast<char>('0' + node_gpus));
}

std::int32_t gpus_in(const std::string& digits) {
  std::int32_t gpus = 0;
  for (const char c : digits) gpus += c - '0';
  return gpus;
}

}  // namespace

void read_pollux_placements(CsvReader& row, PolluxType& out) {
  const int placement = row.column("placement");
  const StepColumns columns(row);
  while (row.next()) {
    const std::string digits(row.text(placement));
    if (digits.empty() || digits.size() > 64 || digits.find_first_not_of("123456789") != digits.npos) {
      row.refuse(placement, "the GPUs of each node as digits, such as 24");
    }
    columns.read(row, out.placements[digits], false);
  }
  if (out.placements.empty()) throw InputError(row.file(), "", row.line() + 1, "no measurement");
}

void read_pollux_scalability(CsvReader& row, PolluxType& out) {
  const int nodes = row.column("num_nodes"), gpus = row.column("num_replicas");
  const StepColumns columns(row);
  while (row.next()) {
    const auto n = static_cast<std::int32_t>(row.integer(nodes, 1, kMaxNodes));
    // Sia's files have several placements of as many GPUs on as many nodes.
    columns.read(row, out.scalability[{static_cast<std::int32_t>(row.integer(gpus, n, kMaxGpusPerJob)), n}], true);
  }
  if (out.scalability.empty()) throw InputError(row.file(), "", row.line() + 1, "no measurement");
}

std::int32_t pollux_widest_node(const PolluxType& measured) {
  std::int32_t widest = 0;
  for (const auto& [digits, steps] : measured.placements) {
    for (const char c : digits) widest = std::max(widest, c - '0');
  }
  return widest;
}

PolluxValidation read_pollux_validation(CsvReader& row, const std::string& application, std::int32_t batch, std::int32_t initial_batch) {
  const int iteration = row.column("iteration");
  PolluxValidation out;
  std::int64_t epochs = 0;
  for (; row.next(); ++epochs) {
    out.iterations = row.integer(iteration, out.iterations + 1, kScoreCeiling / 1'000'000);
    if (initial_batch > 0) out.epochs.push_back(read_epoch(row, out.epochs, batch, initial_batch));
  }
  const Known* const one = known(application);
  if (epochs == 0 || (one != nullptr && epochs != one->epochs)) {
    throw InputError(row.file(), "", row.line(),
                     fmt::format("{} epochs, where {} is trained for {}", epochs, application,
                                 one == nullptr ? "one or more" : fmt::format("{}", one->epochs)));
  }
  out.trained = epochs;
  return out;
}

std::int32_t pollux_most_per_gpu(std::string_view application, std::string_view type) {
  // Sia's limits: none but this one.
  if (type != kPolluxGpu) return application == "deepspeech2" && type == "rtx" ? 57 : 0;
  const Known* const one = known(application);
  return one == nullptr ? 0 : one->most_per_gpu;
}

std::optional<std::int64_t> pollux_step_ns(const PolluxSteps& steps, std::int32_t gpus, std::int32_t batch, std::int32_t most_per_gpu,
                                           std::int32_t least_passes) {
  if (steps.empty()) return std::nullopt;
  std::int32_t most = steps.rbegin()->first;
  if (most_per_gpu > 0) most = std::min(most, most_per_gpu);
  const auto per_gpu = static_cast<std::int32_t>((std::int64_t{batch} + gpus - 1) / gpus);
  const std::int32_t passes = std::max((per_gpu - 1) / most + 1, least_passes);
  const std::int32_t per_pass = (per_gpu - 1) / passes + 1;
  const auto right = steps.lower_bound(per_pass);
  if (right == steps.end() || (right->first != per_pass && right == steps.begin())) return std::nullopt;
  PolluxStep step = right->second;
  if (right->first != per_pass) {
    const auto left = std::prev(right);
    const auto between = [&](std::int64_t a, std::int64_t b) {
      return a + core::saturate(core::floor_div(core::Wide{b - a} * (per_pass - left->first), right->first - left->first));
    };
    step = {between(left->second.step_ns, step.step_ns), between(left->second.sync_ns, step.sync_ns)};
  }
  return core::saturating_add(step.step_ns, core::saturating_mul(passes - 1, step.step_ns - step.sync_ns));
}

Profile pollux_profile(const PolluxApplication& measured, const std::string& application, std::int32_t batch) {
  return pollux_profile(measured, application,
                        [&](std::int32_t gpus, const PolluxSteps& steps, std::int32_t most) -> std::optional<std::int64_t> {
                          const auto ns = pollux_step_ns(steps, gpus, batch, most);
                          if (!ns) return std::nullopt;
                          return std::max<std::int64_t>(1, 1'000'000 * kSecondNs / *ns);
                        });
}

Profile pollux_profile(const PolluxApplication& measured, const std::string& application, const PolluxRate& rate) {
  Profile profile;
  profile.kind = ProfileKind::kTable;
  profile.model = application;
  profile.unit = "steps";
  for (const auto& [type, on] : measured.types) {
    const std::int32_t most = pollux_most_per_gpu(application, type);
    const auto add = [&, &name = type](std::int32_t gpus, const PolluxSteps& steps, const char* span) {
      if (const auto per_second = rate(gpus, steps, most)) profile.points.push_back({name, gpus, 0, span, *per_second});
    };
    const auto placement = [&, &from = on](std::int32_t gpus, const std::string& digits, const char* span) {
      const auto found = from.placements.find(digits);
      if (found != from.placements.end()) add(gpus, found->second, span);
    };
    std::int32_t largest = 0;
    for (const auto& [digits, steps] : on.placements) largest = std::max(largest, gpus_in(digits));
    for (std::int32_t gpus = 1; gpus <= largest; ++gpus) {
      placement(gpus, compact(gpus, on.node_gpus), gpus > 1 && gpus <= on.node_gpus ? "node" : "");
      if (gpus > 1 && gpus <= on.node_gpus) placement(gpus, fmt::format("{}{}", gpus / 2, gpus - gpus / 2), "");
    }
    std::int32_t last = largest;
    for (const auto& [key, steps] : on.scalability) {  // for each GPU count the fewest nodes come first
      if (key.first <= last) continue;
      add(key.first, steps, "");
      last = key.first;
    }
  }
  return profile;
}

}  // namespace berth::io
