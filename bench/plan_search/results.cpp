#include "bench/plan_search/results.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "host/io/json/json_cursor.hpp"

namespace berth::bench {
namespace {

std::string text_of(const MedianRange& s) { return fmt::format("[{:.6g},{:.6g},{:.6g}]", s.median, s.lowest, s.highest); }

std::string text_of(const std::vector<std::optional<MedianRange>>& spreads) {
  std::string text = "[";
  for (const std::optional<MedianRange>& one : spreads) {
    if (text.size() > 1) text += ',';
    text += one ? text_of(*one) : "null";
  }
  return text + "]";
}

std::string text_of(const SearchRow& row) {
  return fmt::format(
      R"(  {{"name":"{0}/{1}/{2}/gpus:{3}/jobs:{4}/{5}","section":"{0}","cluster":"{1}","kind":"{2}","gpus":{3},"jobs":{4},"contender":"{5}",)"
      R"("plans":{6},"note":"{13}","budget_ms":{14:g},"last_ms":{7},"generations":{8},"bound_gap_percent":{9},"best_gap_percent":{10},)"
      R"("bound_gap_percent_at":{11},"best_gap_percent_at":{12}}})",
      row.section, row.cluster, row.kind, row.gpus, row.jobs, row.contender, row.plans, text_of(row.last_ms), text_of(row.generations),
      text_of(row.bound_gap), text_of(row.best_gap), text_of(row.bound_gap_at), text_of(row.best_gap_at), row.note, row.budget_ms);
}

std::string text_of(const SearchFacts& one) {
  return fmt::format(R"(  {{"cluster":"{}","kind":"{}","gpus":{},"seed":{},"snapshot":"{}","bound":{},"best":{},"best_by":"{}"}})",
                     one.cluster, one.kind, one.gpus, one.seed, one.hash, one.bound, one.best, one.best_by);
}

// The context that Google Benchmark writes before the first case, without the host name, which is private.
std::string context_json() {
  std::ostringstream out;
  benchmark::JSONReporter reporter;
  reporter.SetOutputStream(&out);
  reporter.SetErrorStream(&out);
  reporter.ReportContext(benchmark::BenchmarkReporter::Context());
  std::string text = out.str();
  const std::size_t host = text.find("    \"host_name\"");
  if (host != std::string::npos) text.erase(host, text.find('\n', host) + 1 - host);
  return text;
}

template <class Rows>
std::string lines_of(const Rows& rows) {
  std::string text;
  for (const auto& row : rows) text += (text.empty() ? "" : ",\n") + text_of(row);
  return text;
}

double number(io::JsonCursor& in) { return std::strtod(std::string(in.raw()).c_str(), nullptr); }

MedianRange spread(io::JsonCursor& in) {
  std::vector<double> three;
  in.array([&] { three.push_back(number(in)); });
  if (three.size() != 3) in.fail("expected three numbers");
  return {three[0], three[1], three[2]};
}

std::vector<std::optional<MedianRange>> spreads(io::JsonCursor& in) {
  std::vector<std::optional<MedianRange>> found;
  in.array([&] {
    if (in.type() == io::JsonType::kNull) {
      in.null();
      found.emplace_back();
    } else {
      found.emplace_back(spread(in));
    }
  });
  return found;
}

SearchRow row(io::JsonCursor& in) {
  SearchRow r;
  in.object([&](std::string_view key) {
    const auto text = [&](std::string& to) { to = std::string(in.string()); };
    if (key == "section") return text(r.section);
    if (key == "cluster") return text(r.cluster);
    if (key == "kind") return text(r.kind);
    if (key == "contender") return text(r.contender);
    if (key == "note") return text(r.note);
    if (key == "budget_ms") return void(r.budget_ms = number(in));
    if (key == "gpus") return void(r.gpus = in.integer(0, INT32_MAX));
    if (key == "jobs") return void(r.jobs = in.integer(0, INT32_MAX));
    if (key == "plans") return void(r.plans = in.integer(0, INT32_MAX));
    if (key == "last_ms") return void(r.last_ms = spread(in));
    if (key == "generations") return void(r.generations = spread(in));
    if (key == "bound_gap_percent") return void(r.bound_gap = spread(in));
    if (key == "best_gap_percent") return void(r.best_gap = spread(in));
    if (key == "bound_gap_percent_at") return void(r.bound_gap_at = spreads(in));
    if (key == "best_gap_percent_at") return void(r.best_gap_at = spreads(in));
    in.raw();
  });
  return r;
}

}  // namespace

MedianRange spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  return {median, values.front(), values.back()};
}

void write_result(const SearchResult& result, const std::string& path) {
  std::string times;
  for (const double ms : result.times_ms) times += (times.empty() ? "" : ",") + fmt::format("{:g}", ms);
  std::ofstream file(path);
  file << context_json() << lines_of(result.rows) << "\n ],\n \"at_ms\": [" << times << "],\n \"instances\": [\n"
       << lines_of(result.facts) << "\n ]\n}\n";
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

SearchResult read_result(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  io::JsonCursor in(text, path);
  SearchResult result;
  in.object([&](std::string_view key) {
    if (key == "at_ms") return in.array([&] { result.times_ms.push_back(number(in)); });
    if (key == "benchmarks") return in.array([&] { result.rows.push_back(row(in)); });
    in.raw();
  });
  in.finish();
  for (const SearchRow& r : result.rows) {
    const std::size_t n = r.section == "search" ? result.times_ms.size() : 0;
    if (r.bound_gap_at.size() != n || r.best_gap_at.size() != n) throw std::runtime_error(path + ": a row has gaps at other times");
  }
  return result;
}

}  // namespace berth::bench
