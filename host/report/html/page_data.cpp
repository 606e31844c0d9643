#include "host/report/html/page_data.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "host/io/json/json_writer.hpp"
#include "host/report/html/html_text.hpp"

namespace berth::report {
namespace {

constexpr double kMicro = 1e-6;

template <class T, class Rows, class Get>
void put_column(io::JsonWriter& out, const char* name, const Rows& rows, const Get& get) {
  std::vector<T> column;
  column.reserve(rows.size());
  for (const auto& row : rows) column.push_back(get(row));
  out.key(name);
  out.raw('"' + packed(std::span<const T>(column)) + '"');
}

double seconds_of(TimeUs us) { return us == kNever ? -1 : static_cast<double>(us) * kMicro; }

void put_ranked(io::JsonWriter& out, const char* name, const RankedValues& ranked) {
  out.key(name);
  out.object([&] {
    out.number("values", ranked.values);
    put_column<double>(out, "at", ranked.at, [](std::int64_t us) { return seconds_of(us); });
  });
}

void put_configuration(io::JsonWriter& out, const ReportFacts& facts, std::size_t c) {
  const Configuration& one = facts.input.configurations[c];
  out.object([&] {
    out.text("label", one.label);
    out.text("policy", one.policy);
    out.number("scenario", static_cast<std::int64_t>(one.scenario));
    out.number("gpus", facts.input.runs[one.runs.front()].stored.number("gpus"));
    out.key("settings");
    out.object([&] {
      for (const auto& [name, value] : one.varying) out.text(name, value);
    });
    out.list("means", facts.comparison[c], [&](const Compared& compared) { out.integer(compared.value.mean); });
    out.list("halves", facts.comparison[c], [&](const Compared& compared) {
      compared.value.half ? out.integer(static_cast<std::int64_t>(std::min(*compared.value.half, 9e15))) : out.raw("null");
    });
    put_ranked(out, "jct", facts.configurations[c].jct_us);
    put_ranked(out, "wait", facts.configurations[c].wait_us);
    if (facts.configurations[c].late_us.values > 0) put_ranked(out, "late", facts.configurations[c].late_us);
  });
}

void put_series(io::JsonWriter& out, const ReportFacts& facts, const RunSeries& series) {
  const results::StoredRun& run = facts.input.runs[series.run].stored;
  out.object([&] {
    out.number("run", run.id);
    out.number("configuration", static_cast<std::int64_t>(series.configuration));
    out.number("seed", run.number("seed"));
    out.number("gpus", run.number("gpus"));
    put_column<double>(out, "from", series.samples, [](const sim::Sample& one) { return seconds_of(one.from_us); });
    out.number("until", series.samples.empty() ? 0 : series.samples.back().until_us, 6);
    for (const std::size_t l : std::array<std::size_t, 3>{0, 3, 5}) {  // those that the script draws
      put_column<float>(out, sim::kLevelNames[l], series.samples,
                        [l](const sim::Sample& one) { return static_cast<float>(static_cast<double>(one.micro[l]) * kMicro); });
    }
  });
}

void put_bars(io::JsonWriter& out, const ReportFacts& facts, const RunBars& bars) {
  const results::StoredRun& run = facts.input.runs[bars.run].stored;
  std::unordered_map<std::string_view, std::uint32_t> index;
  std::string ids;
  std::uint32_t n = 0;
  for (const results::StoredJob& job : bars.jobs) {
    index.emplace(job.id, n);
    if (n++ > 0) ids += '\n';
    ids += job.id;
  }
  out.object([&] {
    out.number("run", run.id);
    out.number("configuration", static_cast<std::int64_t>(bars.configuration));
    out.number("seed", run.number("seed"));
    out.text("jobs", ids);
    put_column<std::uint32_t>(out, "gpus", bars.jobs, [](const results::StoredJob& job) {
      return static_cast<std::uint32_t>(std::clamp<std::int64_t>(job.gpus, 0, UINT32_MAX));
    });
    put_column<double>(out, "submit", bars.jobs, [](const results::StoredJob& job) { return seconds_of(job.submit_us); });
    put_column<double>(out, "start", bars.jobs, [](const results::StoredJob& job) { return seconds_of(job.start_us); });
    put_column<double>(out, "end", bars.jobs, [](const results::StoredJob& job) { return seconds_of(job.end_us); });
    put_column<std::uint8_t>(out, "outcome", bars.jobs, [](const results::StoredJob& job) { return job.outcome; });
    out.lines("nodes", bars.nodes, [&](const sim::StayNode& node) {
      out.array([&] {
        out.string(node.name);
        out.integer(node.gpus);
      });
    });
    std::vector<results::StoredStay> stays;  // of jobs and nodes that are there
    for (const results::StoredStay& stay : bars.stays) {
      if (stay.node >= 0 && stay.node < static_cast<std::int64_t>(bars.nodes.size()) && index.count(stay.job) > 0) stays.push_back(stay);
    }
    put_column<std::uint32_t>(out, "stay_job", stays, [&](const results::StoredStay& stay) { return index.at(stay.job); });
    put_column<std::uint32_t>(out, "stay_node", stays,
                              [](const results::StoredStay& stay) { return static_cast<std::uint32_t>(stay.node); });
    put_column<std::uint32_t>(out, "stay_low", stays,
                              [](const results::StoredStay& stay) { return static_cast<std::uint32_t>(stay.gpus); });
    put_column<std::uint32_t>(out, "stay_high", stays,
                              [](const results::StoredStay& stay) { return static_cast<std::uint32_t>(stay.gpus >> 32); });
    put_column<double>(out, "stay_from", stays, [](const results::StoredStay& stay) { return seconds_of(stay.from_us); });
    put_column<double>(out, "stay_until", stays, [](const results::StoredStay& stay) { return seconds_of(stay.until_us); });
  });
}

}  // namespace

std::string page_data(const ReportFacts& facts) {
  io::JsonWriter out;
  out.object([&] {
    out.lines("metrics", kMetrics, [&](const Metric& metric) {
      out.object([&] {
        out.text("key", metric.key);
        out.text("label", metric.label);
        out.text("unit", unit_name(metric.unit));
        out.number("better", metric.better);
      });
    });
    out.lines(
        "scenarios", facts.input.scenarios, [&](const ComparedScenario& scenario) { out.string(scenario.label); }, true);
    out.strings("varying", facts.input.varying);
    std::vector<std::size_t> all(facts.input.configurations.size());
    for (std::size_t c = 0; c < all.size(); ++c) all[c] = c;
    out.lines(
        "configurations", all, [&](std::size_t c) { put_configuration(out, facts, c); }, true);
    out.lines(
        "series", facts.series, [&](const RunSeries& series) { put_series(out, facts, series); }, true);
    out.lines(
        "bars", facts.bars, [&](const RunBars& bars) { put_bars(out, facts, bars); }, true);
  });
  return out.finish();
}

}  // namespace berth::report
