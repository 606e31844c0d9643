#include <fmt/format.h>

#include "host/cli/bench/bench_runs.hpp"

namespace berth::cli {
namespace {

constexpr TimeUs kJudged[] = {10'000, 100'000, kSecond, 3 * kSecond};

std::string so_far_below(const SearchSize& size, bool any, std::int64_t value) {
  if (!any) return "nothing yet";
  return fmt::format("{:.4f} % below the bound", 100 * static_cast<double>(size.bound - value) / static_cast<double>(size.bound));
}

// The run with the most time, which includes the results of the shorter ones.
const SearchRun* longest(const SearchSize& size, const std::string& side) {
  const SearchRun* found = nullptr;
  for (const SearchRun& run : size.runs) {
    if (run.side == side && (found == nullptr || run.budget_us > found->budget_us)) found = &run;
  }
  return found;
}

void lost_searches(const BenchReport& report, const SearchSize& size, std::vector<std::string>& lost) {
  if (size.bound <= 0 || report.sides.empty()) return;
  const SearchRun* one = longest(size, report.sides.front().name);
  for (const TimeUs instant : kJudged) {
    if (one == nullptr || instant > one->budget_us) break;
    const double at = static_cast<double>(instant) / kSecond;
    const std::string when = fmt::format("{} GPUs at {:.0f} ms", size.gpus, 1e3 * at);
    std::int64_t single = 0, best = 0;
    const bool single_any = score_at(*one, at, single);
    bool any = false;
    for (const BenchSide& side : report.sides) {
      const SearchRun* run = longest(size, side.name);
      std::int64_t value = 0;
      const bool here = run != nullptr && score_at(*run, at, value);
      if (here && (!any || value > best)) best = value;
      any = any || here;
      if (run == nullptr || !single_any || (here && value >= single)) continue;
      lost.push_back(fmt::format("{}: {} {}, {} {}", when, side.name, so_far_below(size, here, value), one->side,
                                 so_far_below(size, single_any, single)));
    }
    if (at >= size.price_placed_s && (!any || best <= size.price_value)) {
      lost.push_back(fmt::format("{}: the search gains nothing over price, {}", when, so_far_below(size, true, size.price_value)));
    } else if (!any) {
      lost.push_back(fmt::format("{}: neither price nor the search has anything yet", when));
    }
  }
}

}  // namespace

std::vector<std::string> losing(const BenchReport& report) {
  std::vector<std::string> lost;
  for (const SearchSize& size : report.search) lost_searches(report, size, lost);
  for (const PassesSize& size : report.passes) {
    for (const PassesRun& run : size.runs) {
      if (run.median_s <= size.runs.front().median_s) continue;
      lost.push_back(fmt::format("{} scenarios of {} jobs on {} nodes: {} {:.0f} a second, {} {:.0f}", size.scenarios, size.jobs,
                                 size.nodes, run.side, size.scenarios / run.median_s, size.runs.front().side,
                                 size.scenarios / size.runs.front().median_s));
    }
  }
  for (const DecisionsSize& size : report.decisions) {
    for (const DecisionsRun& run : size.runs) {
      if (run.p50_s <= size.runs.front().p50_s) continue;
      lost.push_back(fmt::format("a decision of {} on {} nodes: {} {:.0f} us, {} {:.0f} us", size.policy, size.nodes, run.side,
                                 1e6 * run.p50_s, size.runs.front().side, 1e6 * size.runs.front().p50_s));
    }
  }
  for (const ReplaysSize& size : report.replays) {
    for (const ReplaysRun& run : size.runs) {
      if (run.median_s <= size.runs.front().median_s) continue;
      lost.push_back(fmt::format("{} replays of {}: {} {:.3g} s, {} {:.3g} s", size.replays, size.policy, run.side, run.median_s,
                                 size.runs.front().side, size.runs.front().median_s));
    }
  }
  return lost;
}

}  // namespace berth::cli
