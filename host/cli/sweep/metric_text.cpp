#include "host/cli/sweep/metric_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>

#include "berth/error.hpp"
#include "host/cli/base/echoed.hpp"
#include "host/cli/sweep/sweep_keys.hpp"
#include "host/core/base/suggest.hpp"
#include "host/results/sweep_store.hpp"

namespace berth::cli {

using results::SweepMetric;

namespace {

const SweepMetric& metric_at(std::size_t metric) { return results::kSweepMetricTable[metric]; }

// "p90_wait" is p90_queue, "p50_jct" is median_jct, and "utilisation" is gpu_utilisation.
std::string table_name(std::string_view given) {
  constexpr std::string_view kWait = "wait", kHalf = "p50_";
  std::string name(given);
  const bool waits = name == kWait || (name.size() > kWait.size() && name.substr(name.size() - kWait.size() - 1) == "_wait");
  if (waits) name.replace(name.size() - kWait.size(), kWait.size(), "queue");
  if (name.substr(0, kHalf.size()) == kHalf) name.replace(0, kHalf.size(), "median_");
  if (const std::size_t z = name.find("utiliz"); z != name.npos) name[z + 5] = 's';
  return name == "utilisation" ? "gpu_utilisation" : name;
}

}  // namespace

std::size_t metric_named(std::string_view key, std::string_view name) {
  if (const auto metric = results::sweep_metric(table_name(name))) return *metric;
  std::vector<std::string_view> names{"jct", "queue"};
  for (const results::SweepMetric& metric : results::kSweepMetricTable) names.push_back(metric.name);
  const std::string near = core::did_you_mean(table_name(name), names);
  throw InvalidArgument(fmt::format("{}: unknown metric '{}'{}", key, echoed(name),
                                    near.empty() ? fmt::format(" (known: {})", fmt::join(names, ", ")) : near));
}

double metric_scale(std::size_t metric) {
  switch (metric_at(metric).unit) {
    case SweepMetric::kMicroseconds:
    case SweepMetric::kMillionths:
      return 1e6;
    case SweepMetric::kCount:
      break;
  }
  return 1;
}

std::string metric_head(std::size_t metric) {
  return column_head(metric_at(metric).name) + (metric_at(metric).unit == SweepMetric::kMicroseconds ? " S" : "");
}

std::string metric_key(std::size_t metric) {
  return fmt::format("{}{}", metric_at(metric).name, metric_at(metric).unit == SweepMetric::kMicroseconds ? "_s" : "");
}

std::pair<std::string, ShownInterval> shown_metric(std::size_t metric, const SweepInterval& interval) {
  ShownInterval shown;
  shown.mean = interval.mean / metric_scale(metric);
  if (interval.values > 1) shown.half_width = interval.half_width / metric_scale(metric);
  return {metric_key(metric), shown};
}

std::string column_head(std::string_view name) {
  if (name.substr(0, kParamKey.size()) == kParamKey) name.remove_prefix(kParamKey.size());
  std::string head(name);
  for (char& c : head) c = c == '_' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return head;
}

std::string number_text(double value, double half_width) {
  const double scale = half_width > 0 ? half_width : std::abs(value) / 1000;
  const int digits = scale > 0 ? std::min(6, std::max(0, 1 - static_cast<int>(std::floor(std::log10(scale))))) : 0;
  std::string text = fmt::format("{:.{}f}", value, digits);
  return text == "-0" ? "0" : text;
}

std::string interval_text(const SweepInterval& interval, double scale, bool sign) {
  if (interval.values == 0) return "-";
  const double mean = interval.mean / scale, half = interval.half_width / scale;
  std::string text = (sign && mean > 0 ? "+" : "") + number_text(mean, half);
  if (interval.values > 1) text += " +- " + number_text(half, half);
  return text;
}

}  // namespace berth::cli
