#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <thread>

#include "berth/error.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/echoed.hpp"
#include "host/cli/base/interrupt.hpp"
#include "host/cli/base/progress.hpp"
#include "host/cli/bench/bench_runs.hpp"
#include "host/core/base/suggest.hpp"
#include "host/core/base/violations.hpp"
#include "host/io/files/file_error.hpp"

namespace berth::cli {
namespace {

constexpr std::string_view kSuites[] = {"headline"};

struct BenchArguments {
  std::string suite;
  int threads = 0;
  std::string device;
  std::uint64_t seed = 1;
  std::string json;
  bool quick = false;
};

void check_suite(const std::string& name) {
  if (std::find(std::begin(kSuites), std::end(kSuites), name) != std::end(kSuites)) return;
  throw InvalidArgument(fmt::format("--suite: unknown suite '{}' (known: {}){}", echoed(name), fmt::join(kSuites, ", "),
                                    core::did_you_mean(name, {std::begin(kSuites), std::end(kSuites)})));
}

// Check early, so that a minute of measuring is not lost because the folder does not exist.
void check_writable(const std::string& path) {
  struct stat info {};
  if (path.empty() || path == "-") return;
  const bool there = ::stat(path.c_str(), &info) == 0;
  if (there && S_ISDIR(info.st_mode)) io::fail_file("write", path, EISDIR);
  if (there && !S_ISREG(info.st_mode)) return;  // a pipe or a device: opened at the end
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const std::string in = folder.empty() ? "." : folder.string();
  if (::stat(in.c_str(), &info) != 0) io::fail_file("write", path, errno);
  if (!S_ISDIR(info.st_mode)) io::fail_file("write", path, ENOTDIR);
  if (::access(in.c_str(), W_OK | X_OK) != 0) io::fail_file("write", path, errno);
}

/// @throws InvalidArgument for a device that is none of those that there are
std::vector<BenchSide> sides_of(int threads, const std::string& device, const MachineFacts& machine) {
  const int all = threads > 0 ? threads : static_cast<int>(machine.threads);
  std::vector<BenchSide> sides{{"1 thread", Backend::kCpu, 1}};
  if (all > 1) sides.push_back({core::counted(all, "thread"), Backend::kCpu, all});
  const auto usable = [](const core::DeviceInfo& gpu) { return gpu.why_not.empty(); };
  const std::vector<core::DeviceInfo> chosen = core::chosen_devices(machine.gpus, device);
  const auto gpu = std::find_if(chosen.begin(), chosen.end(), usable);
  if (gpu != chosen.end()) sides.push_back({"cuda", Backend::kCuda, 1, std::to_string(gpu->index)});
  return sides;
}

/// One part of the suite, and about what percentage of its time it takes.
struct BenchPart {
  std::string what;
  int percent;
  std::function<void()> run;
};

std::vector<BenchPart> parts_of(const BenchOrder& order, BenchReport& report) {
  std::vector<BenchPart> parts;
  for (const SearchRequest& wanted : search_requests(order.quick)) {
    const int percent = wanted.budgets.size() > 1 ? 70 : 5;
    parts.push_back({fmt::format("search on {} GPUs", wanted.gpus), percent,
                     [&order, &report, wanted] { report.search.push_back(measure_search(order, wanted)); }});
  }
  for (const PassesSize& size : passes_sizes(order.quick)) {
    parts.push_back({fmt::format("{} scenarios", size.scenarios), 4, [&order, &report, size] {
                       report.passes.push_back(size);
                       measure_passes(order, report.passes.back());
                     }});
  }
  for (const DecisionsSize& size : decisions_sizes(order.quick)) {
    parts.push_back({fmt::format("decisions of {}", size.policy), 3, [&order, &report, size] {
                       report.decisions.push_back(size);
                       measure_decisions(order, report.decisions.back());
                     }});
  }
  for (const ReplaysSize& size : replays_sizes(order.quick)) {
    parts.push_back({fmt::format("replays of {}", size.policy), 3, [&order, &report, size] {
                       report.replays.push_back(size);
                       measure_replays(order, report.replays.back());
                     }});
  }
  return parts;
}

BenchReport measure(const BenchArguments& options) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  const RememberSignals signals;
  const auto came = [] { return remembered_signal() != 0; };
  ProgressLine progress(std::chrono::seconds(0));
  BenchReport report;
  report.seed = options.seed;
  report.quick = options.quick;
  progress.show(0, "the machine");
  report.machine = machine_facts();
  report.before = read_clocks();
  const int repetitions = options.quick ? 1 : 5;
  report.before.fixed_work_s = fixed_work(repetitions);
  report.sides = sides_of(options.threads, options.device, report.machine);
  const BenchOrder order{report.sides, options.seed, options.quick, [&] { return !came(); },
                         [&](const std::string& why) { report.warnings.push_back(why); }};
  int percent = 0;
  for (const BenchPart& part : parts_of(order, report)) {
    progress.show(percent, part.what);
    part.run();
    if (came()) break;
    percent += part.percent;
  }
  report.after = read_clocks();
  report.after.fixed_work_s = fixed_work(repetitions);
  const std::vector<std::string> seen = clock_warnings(report.before, report.after, report.machine.threads);
  report.warnings.insert(report.warnings.end(), seen.begin(), seen.end());
  report.complete = !came();
  report.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return report;
}

int run(const BenchArguments& options) {
  check_suite(options.suite);
  check_writable(options.json);
  const BenchReport report = measure(options);
  if (!options.json.empty()) write_out(options.json, bench_json(report));
  print_message(options.json, bench_text(report));
  return kDone;
}

}  // namespace

void add_bench(Commands& commands) {
  auto options = std::make_shared<BenchArguments>();
  CLI::App& app = commands.add("bench", "Measure Berth on this machine",
                               "berth bench --suite headline --json here.json\n\n"
                               "Ctrl-C ends the measuring: what was measured is the answer, and then the signal\n"
                               "ends the command. A second Ctrl-C ends it at once.",
                               options, &run);
  app.add_option("--suite", options->suite, "Measure this suite: headline")->required()->type_name("NAME");
  app.add_option("--threads", options->threads, "Also run on N CPU threads; 0 uses all")
      ->check(whole_number<int>(0, 1024))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--device", options->device, "Measure this GPU: its index in 'berth devices', or its UUID")->type_name("GPU");
  add_seed_option(app, options->seed, "Seed clusters, jobs and search");
  app.add_option("--json", options->json, "Also write the figures to FILE as JSON; - is standard output")->type_name("FILE");
  app.add_flag("--quick", options->quick, "Take small sizes for a few seconds: to try it, not to compare");
}

}  // namespace berth::cli
