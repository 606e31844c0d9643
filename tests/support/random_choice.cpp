#include "tests/support/random_choice.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/core/base/wide.hpp"
#include "tests/support/random.hpp"

namespace berth::test {
namespace {

using Options = std::vector<TestOption>;

// 1..most.
std::int64_t random_value(Random& random, std::int64_t most) {
  return 1 + static_cast<std::int64_t>(random.bits() % static_cast<std::uint64_t>(most));
}

std::vector<std::int32_t> random_types(Random& random, std::int32_t types) {
  std::vector<std::int32_t> chosen;
  for (std::int32_t t = 0; t < types; ++t) {
    if (random.percent(75)) chosen.push_back(t);
  }
  if (chosen.empty()) chosen.push_back(random.below(types));
  return chosen;
}

// work * speed * g / (1 + loss * (g - 1)), Amdahl's law, relative to the speed on `max_gpus`.
// A later type is faster, but not for every job.
Options concave(Random& random, const RandomChoiceSpec& spec) {
  const std::int64_t work = random_value(random, spec.max_value);
  const std::int32_t loss_percent = random.of<std::int32_t>({2, 5, 10, 25, 50});
  Options options;
  for (const std::int32_t t : random_types(random, spec.types)) {
    const std::int32_t speed_percent = random.within(60, 100) / (1 + (spec.types - 1 - t) / 2);
    for (std::int32_t g = 1; g <= spec.max_gpus; g *= 2) {
      const auto slowed = [&](std::int32_t gpus) { return 100 + core::Wide{loss_percent} * (gpus - 1); };
      const core::Wide value = core::Wide{work * speed_percent / 100} * g * slowed(spec.max_gpus) / (slowed(g) * spec.max_gpus);
      options.push_back({t, g, static_cast<std::int64_t>(value)});
    }
  }
  return options;
}

Options gang(Random& random, const RandomChoiceSpec& spec) {
  const std::int32_t gpus = random.percent(70) ? 1 << random.below(6) : random.within(1, spec.max_gpus);
  const std::int64_t value = random_value(random, spec.max_value);
  Options options;
  for (const std::int32_t t : random_types(random, spec.types)) {
    options.push_back({t, std::min(gpus, spec.max_gpus), value * random.within(25, 100) / 100});
  }
  return options;
}

Options jagged(Random& random, const RandomChoiceSpec& spec) {
  Options options;
  for (std::int32_t n = random.within(1, 6); n > 0; --n) {
    options.push_back({random.below(spec.types), random.within(1, spec.max_gpus), random_value(random, spec.max_value)});
  }
  return options;
}

Options few_values(Random& random, const RandomChoiceSpec& spec) {
  Options options;
  for (std::int32_t n = random.within(1, 4); n > 0; --n) {
    const std::int64_t value = random.within(1, 4) * std::max<std::int64_t>(1, spec.max_value / 4);
    options.push_back({random.below(spec.types), std::min(1 << random.below(3), spec.max_gpus), value});
  }
  return options;
}

Options random_options(Random& random, const RandomChoiceSpec& spec) {
  switch (spec.kind == ChoiceKind::kMixed ? kChoiceKinds[static_cast<std::size_t>(random.below(4))] : spec.kind) {
    case ChoiceKind::kConcave:
      return concave(random, spec);
    case ChoiceKind::kGang:
      return gang(random, spec);
    case ChoiceKind::kJagged:
      return jagged(random, spec);
    default:
      return few_values(random, spec);
  }
}

}  // namespace

const char* to_string(ChoiceKind kind) {
  constexpr std::array<const char*, 5> names{"concave", "gang", "jagged", "few values", "mixed"};
  return names[static_cast<std::size_t>(kind)];
}

ChoiceProblem random_choice(std::uint64_t seed, const RandomChoiceSpec& spec) {
  Random random(seed * 0x9e3779b97f4a7c15ull + 3);
  std::vector<Options> jobs;
  std::int64_t wanted = 0;  // GPUs
  for (std::int32_t j = 0; j < spec.jobs; ++j) {
    Options options;
    if (!jobs.empty() && random.percent(spec.identical_percent)) {
      options = random.of(jobs);
    } else if (spec.types > 0 && !random.percent(spec.empty_percent)) {
      options = random_options(random, spec);
      for (TestOption& option : options) option.value *= random.percent(spec.negative_percent) ? -1 : 1;
    }
    std::int32_t largest = 0;
    for (const TestOption& option : options) largest = std::max(largest, option.gpus);
    wanted += largest;
    jobs.push_back(std::move(options));
  }

  std::vector<std::int64_t> capacity;
  std::int64_t most = 0;
  for (std::int32_t t = 0; t < spec.types; ++t) {
    const std::int64_t fair = wanted * 100 / spec.load_percent / spec.types;
    capacity.push_back(random.percent(spec.empty_percent) ? 0 : fair * random.within(50, 150) / 100);
    most = std::max(most, capacity.back());
  }
  for (Options& options : jobs) {
    for (TestOption& option : options) {
      if (random.percent(spec.oversize_percent)) option.gpus += static_cast<std::int32_t>(most);
    }
  }
  return {std::move(capacity), jobs};
}

}  // namespace berth::test
