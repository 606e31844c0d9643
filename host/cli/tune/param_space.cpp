#include "host/cli/tune/param_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "berth/error.hpp"
#include "host/cli/base/request.hpp"
#include "host/cli/base/values.hpp"
#include "host/core/base/suggest.hpp"
#include "host/sim/base/random.hpp"

namespace berth::cli {
namespace {

constexpr std::int64_t kMicro = 1'000'000;

/// What is tuned where --space does not say it. Not in this table: what changes the problem (quotas, discipline, shape, packing), and what
/// only trades the time of a decision for its quality.
struct UsualDomain {
  std::string_view param, values;
};
constexpr UsualDomain kUsualDomains[] = {
    {"objective", "flow_time,throughput,finish_time_fairness,sruf"},
    {"horizon_s", "60..14400"},
    {"terms", "none|restart|migration|migration,restart|fragmentation,restart"},
    {"gap", "0.00001..0.01"},
    {"evaluations", "50..800"},
    {"window", "32..512"},
    {"quantum_s", "30..3600"},
    {"round_s", "60..3600"},
    {"received", "recent,all"},
    {"delta_gpu_s", "500..50000"},
    {"thresholds_gpu_s", "100..1000000"},
    {"promote_knob", "off,1,2,4,8,16,32,64"},
    {"queue_order", "submit,entry,running"},
    {"mutation", "0.1..0.9"},
    {"epoch_s", "60..3600"},
    {"form", "helios,tiresias"},
    {"k", "2..16"},
    {"lease_s", "300..7200"},
    {"f", "0.1..0.95"},
    {"leases", "own,common"},
};

std::string number_text_of(std::int64_t micro) {
  std::string text = fmt::format("{}.{:06}", micro / kMicro, micro % kMicro);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

// Three digits are as exact as a parameter that was found by trying can be.
std::int64_t rounded(double micro, bool whole) {
  const double unit = whole ? kMicro : 1;
  double step = std::pow(10, std::floor(std::log10(std::max(micro, 1.0))) - 2);
  step = std::max(step, unit);
  return static_cast<std::int64_t>(std::llround(std::round(micro / step) * step));
}

std::int64_t draw_number(const ParamDomain& domain, sim::ItemDraws& draws) {
  const double part = static_cast<double>(draws.next()) / 4294967296.0;
  const auto low = static_cast<double>(domain.low_micro), high = static_cast<double>(domain.high_micro);
  const double value = domain.by_ratio ? low * std::pow(high / low, part) : low + (high - low) * part;
  return std::clamp(rounded(value, domain.whole), domain.low_micro, domain.high_micro);
}

std::string draw_value(const ParamDomain& domain, sim::ItemDraws& draws) {
  if (!domain.choices.empty())
    return domain.choices[static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(domain.choices.size())))];
  std::set<std::int64_t> numbers;
  // Equal numbers would be one threshold; a range that has too few takes fewer.
  for (int tries = 0; static_cast<int>(numbers.size()) < domain.numbers && tries < 100; ++tries) numbers.insert(draw_number(domain, draws));
  std::string text;
  for (const std::int64_t number : numbers) text += fmt::format("{}{}", text.empty() ? "" : ",", number_text_of(number));
  return text;
}

const PolicyParam& param_of(const PolicyInfo& info, std::string_view name) {
  std::vector<std::string_view> known;
  for (const PolicyParam& param : info.params) {
    if (param.name == name) return param;
    known.push_back(param.name);
  }
  throw InvalidArgument(fmt::format("--space: policy '{}' has no parameter '{}' (known: {}){}", info.name, echoed(name),
                                    fmt::join(known, ", "), core::did_you_mean(name, known)));
}

void check_value(const PolicyInfo& info, const std::string& name, const std::string& value) {
  RequestOptions options;
  options.params.push_back(fmt::format("{}={}", name, value));
  try {
    (void)make_request(options, info.name);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("--space {}: {}", echoed(name), error.what()));
  }
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// A number of 0 or more.
std::optional<std::int64_t> micro_of(std::string_view text) {
  constexpr std::int64_t kMost = 1'000'000'000'000'000;
  return text == "0" ? std::optional<std::int64_t>(0) : parse_positive(text, 6, kMost);
}

ParamDomain range_of(const PolicyParam& param, std::string_view text, std::size_t dots) {
  const std::string_view low = text.substr(0, dots), high = text.substr(dots + 2);
  const auto from = micro_of(low), to = micro_of(high);
  if (!from || !to || *from >= *to)
    throw InvalidArgument(
        fmt::format("--space {}: '{}': expected LOW..HIGH, two numbers of 0 or more, the smaller one first", param.name, echoed(text)));
  ParamDomain domain;
  domain.name = param.name;
  domain.low_micro = *from, domain.high_micro = *to;
  domain.whole = low.find('.') == low.npos && high.find('.') == high.npos;
  constexpr std::int64_t kDecade = 10;
  domain.by_ratio = *from > 0 && *to / *from >= kDecade;
  domain.numbers = 1 + static_cast<int>(std::count(param.default_value.begin(), param.default_value.end(), ','));
  return domain;
}

}  // namespace

ParamDomain parse_domain(const PolicyInfo& info, std::string_view text) {
  const auto [name, values] = parse_key_value(text);
  const PolicyParam& param = param_of(info, name);
  const std::size_t dots = values.find("..");
  if (dots != values.npos) {
    ParamDomain domain = range_of(param, values, dots);
    check_value(info, name, number_text_of(domain.low_micro));
    check_value(info, name, number_text_of(domain.high_micro));
    return domain;
  }
  ParamDomain domain;
  domain.name = name;
  domain.choices = split(values, values.find('|') == values.npos ? ',' : '|');
  for (const std::string& choice : domain.choices) check_value(info, name, choice);
  return domain;
}

std::vector<ParamDomain> usual_domains(const PolicyInfo& info) {
  std::vector<ParamDomain> space;
  for (const UsualDomain& usual : kUsualDomains) {
    const auto has = [&](const PolicyParam& param) { return param.name == usual.param; };
    if (std::none_of(info.params.begin(), info.params.end(), has)) continue;
    space.push_back(parse_domain(info, fmt::format("{}={}", usual.param, usual.values)));
  }
  return space;
}

std::vector<ParamValues> draw_configurations(const PolicyInfo& info, const std::vector<ParamDomain>& space, std::uint64_t seed,
                                             std::int64_t count) {
  constexpr std::uint64_t kFirstItem = std::uint64_t{1} << 41;  // apart from what draws days
  constexpr std::int64_t kTries = 50;                           // for each, before the space counts as used up
  std::vector<ParamValues> drawn;
  ParamValues usual;
  for (const ParamDomain& domain : space) usual.emplace_back(domain.name, param_of(info, domain.name).default_value);
  std::sort(usual.begin(), usual.end());
  std::set<ParamValues> seen{usual};
  std::uint64_t item = kFirstItem;
  std::int64_t misses = 0;
  while (static_cast<std::int64_t>(drawn.size()) < count && misses < kTries) {
    sim::ItemDraws draws(seed, sim::RandomStream::kResample, item++);
    ParamValues values;
    for (const ParamDomain& domain : space) values.emplace_back(domain.name, draw_value(domain, draws));
    std::sort(values.begin(), values.end());
    if (!seen.insert(values).second) {
      ++misses;
      continue;
    }
    misses = 0;
    drawn.push_back(std::move(values));
  }
  return drawn;
}

std::string policy_text(const std::string& policy, const ParamValues& values) {
  std::string text = policy;
  for (const auto& [name, value] : values) text += fmt::format("@{}={}", name, value);
  return text;
}

std::string domain_text(const ParamDomain& domain) {
  if (domain.choices.empty())
    return fmt::format("{}{}..{}", domain.numbers > 1 ? fmt::format("{} of ", domain.numbers) : "", number_text_of(domain.low_micro),
                       number_text_of(domain.high_micro));
  const auto has_comma = [](const std::string& choice) { return choice.find(',') != std::string::npos; };
  const bool bars = std::any_of(domain.choices.begin(), domain.choices.end(), has_comma);
  return fmt::format("{}", fmt::join(domain.choices, bars ? " | " : ", "));
}

}  // namespace berth::cli
