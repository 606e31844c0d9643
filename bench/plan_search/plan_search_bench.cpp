#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/plan_search/axes.hpp"
#include "bench/plan_search/cells.hpp"
#include "bench/plan_search/merge.hpp"
#include "bench/plan_search/tables.hpp"

/// What searches over whole plans reach with time: `ones-plus`, prices and other searches on the same clusters, and `ones-plus` without
/// each of its parts. docs/search.md says how to read it; docs/search-tables.md and docs/search-plots.md hold its output. A run is one long
/// case, so that this has a main of its own.
namespace berth::bench {
namespace {

constexpr const char* kHelp = R"(berth_bench_plan_search [OPTION VALUE]...

  --json FILE        the result, with facts about the host (also --benchmark_out=FILE)
  --sizes N,N        GPUs (64,256,1024,4096,16384,65536)
  --clusters A,B     nvl72,helios
  --kinds A,B        separable,coupled,coupled-goodput; none: only the ablation
  --seeds N          instances of each size (10)
  --budget-ms MS     of each search (1000)
  --long-ms MS       of elastic-pollux, coupled, on 256 GPUs and of ones-plus from 16384 on, half of it of ones-plus-all beyond, if
                     it is more (10000)
  --solver-s S       of GLPK on each instance, twice: relaxed, then in whole numbers (10)
  --ablation yes|no  parts of ones-plus left out (yes)
  --ablation-ms MS   of each of its searches (100)

  --merge A,B,...    no run: results of several, each of other sizes, clusters or kinds, as one, written to --json FILE
  --markdown FILE    no run: the tables of a result, in Markdown
  --points FILE --out DIRECTORY
                     no run: a table for each cluster, kind and size of a result, for bench/plan_search/plot.gp

--benchmark_context=KEY=VALUE adds a fact to the result.
)";

struct Command {
  SearchAxes axes;
  std::string json, markdown, points, out = ".";
  std::vector<std::string> merge;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

std::int64_t whole(const std::string& text, std::int64_t least, std::int64_t most) {
  std::size_t end = 0;
  const long long value = std::stoll(text, &end);
  if (end != text.size() || value < least || value > most) throw std::invalid_argument(text);
  return value;
}

std::vector<std::string> some_of(const std::string& text, const std::vector<std::string>& known) {
  std::vector<std::string> names = split(text);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) throw std::invalid_argument(name);
  }
  return names;
}

/// @throws std::exception for an unknown option or an invalid value
Command parse(const std::vector<std::string>& arguments) {
  Command c;
  const std::map<std::string, std::function<void(const std::string&)>> options{
      {"--json", [&](const std::string& v) { c.json = v; }},
      {"--markdown", [&](const std::string& v) { c.markdown = v; }},
      {"--merge", [&](const std::string& v) { c.merge = split(v); }},
      {"--points", [&](const std::string& v) { c.points = v; }},
      {"--out", [&](const std::string& v) { c.out = v; }},
      {"--sizes",
       [&](const std::string& v) {
         c.axes.gpus.clear();
         for (const std::string& one : split(v)) c.axes.gpus.push_back(whole(one, 64, 1'048'576));
       }},
      {"--clusters", [&](const std::string& v) { c.axes.clusters = some_of(v, SearchAxes().clusters); }},
      {"--kinds", [&](const std::string& v) { c.axes.kinds = v == "none" ? std::vector<std::string>{} : some_of(v, SearchAxes().kinds); }},
      {"--seeds", [&](const std::string& v) { c.axes.seeds = whole(v, 1, 1'000); }},
      {"--budget-ms", [&](const std::string& v) { c.axes.budget_ms = static_cast<double>(whole(v, 2, 3'600'000)); }},
      {"--long-ms", [&](const std::string& v) { c.axes.long_ms = static_cast<double>(whole(v, 1, 3'600'000)); }},
      {"--solver-s", [&](const std::string& v) { c.axes.solver_s = static_cast<double>(whole(v, 1, 3'600)); }},
      {"--ablation",
       [&](const std::string& v) {
         c.axes.ablation = some_of(v, {"yes", "no"})[0] == "yes";
       }},
      {"--ablation-ms", [&](const std::string& v) { c.axes.ablation_ms = static_cast<double>(whole(v, 1, 3'600'000)); }}};
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const auto found = options.find(arguments[i]);
    if (found == options.end() || i + 1 == arguments.size()) throw std::invalid_argument(arguments[i]);
    found->second(arguments[i + 1]);
  }
  return c;
}

std::string first_of(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) == 0) return key.empty() ? line.substr(0, line.find(' ')) : line.substr(line.find(':') + 2);
  }
  return "unknown";
}

// The same context as in bench/support/main.cpp.
void add_context(const SearchAxes& axes, const std::string& command) {
  utsname system{};
  uname(&system);
  benchmark::AddCustomContext("cpu_model", first_of("/proc/cpuinfo", "model name"));
  benchmark::AddCustomContext("hardware_threads", std::to_string(std::thread::hardware_concurrency()));
  benchmark::AddCustomContext("kernel", std::string(system.sysname) + " " + system.release);
  benchmark::AddCustomContext("compiler", BERTH_COMPILER);
  benchmark::AddCustomContext("build_type", BERTH_BUILD_TYPE);
  benchmark::AddCustomContext("clock", "wall");
  benchmark::AddCustomContext("load_average_at_start", first_of("/proc/loadavg", ""));
  benchmark::AddCustomContext("command", command);
  benchmark::AddCustomContext("budget_ms", fmt::format("{:g}", axes.budget_ms));
  benchmark::AddCustomContext("long_ms", fmt::format("{:g}", axes.long_ms));
  benchmark::AddCustomContext("solver_s", fmt::format("{:g}", axes.solver_s));
  benchmark::AddCustomContext("ablation_ms", fmt::format("{:g}", axes.ablation_ms));
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

void merge(const std::vector<std::string>& paths, const std::string& to) {
  if (to.empty()) throw std::invalid_argument("--merge without --json");
  std::vector<std::string> texts;
  texts.reserve(paths.size());
  for (const std::string& path : paths) texts.push_back(read(path));
  write(to, merged(texts, paths));
}

void write_points(const std::string& result, const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  for (const auto& [plot, table] : point_tables(read_result(result))) write(directory / (plot + ".tsv"), table);
}

void run(const Command& command) {
  if (!command.merge.empty()) return merge(command.merge, command.json);
  if (!command.markdown.empty()) return fmt::print("{}", markdown_tables(read_result(command.markdown)));
  if (!command.points.empty()) return write_points(command.points, command.out);
  const SearchResult result = run_search(command.axes, [](const SearchResult& cell) {
    fmt::print("{}", text_tables(cell));
    std::fflush(stdout);
  });
  if (!command.json.empty()) write_result(result, command.json);
}

}  // namespace
}  // namespace berth::bench

int main(int argc, char** argv) {
  std::string line = "berth_bench_plan_search";
  std::vector<std::string> out;
  std::vector<char*> rest;  // arguments for Google Benchmark
  for (int i = 0; i < argc; ++i) {
    const std::string text = argv[i];
    const std::string key = "--benchmark_out=";
    if (i > 0 && text == "--help") return std::fputs(berth::bench::kHelp, stdout) < 0 ? 1 : 0;
    if (i > 0 && text.rfind("--benchmark_", 0) != 0) line += " " + text;
    if (text.rfind(key, 0) == 0) {
      out = {"--json", text.substr(key.size())};
    } else {
      rest.push_back(argv[i]);
    }
  }
  int count = static_cast<int>(rest.size());
  benchmark::Initialize(&count, rest.data());
  std::vector<std::string> own(rest.begin() + 1, rest.begin() + count);
  own.insert(own.end(), out.begin(), out.end());
  try {
    const berth::bench::Command command = berth::bench::parse(own);
    berth::bench::add_context(command.axes, line);
    berth::bench::run(command);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "berth_bench_plan_search: %s\n(--help lists the options)\n", error.what());
    return 2;
  }
  return 0;
}
