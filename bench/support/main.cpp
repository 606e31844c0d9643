#include <benchmark/benchmark.h>
#include <sys/utsname.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "bench/defaults.hpp"
#include "bench/support/latency.hpp"

/// Google Benchmark's main with facts about the host in the context, and five repetitions by default.
namespace {

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::string load_average() {
  std::ifstream file("/proc/loadavg");
  std::string one = "unknown";
  file >> one;
  return one;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> own;
  if (!berth::bench::smoke()) own = {"--benchmark_repetitions=5", "--benchmark_report_aggregates_only=true"};
  std::vector<char*> arguments{argv[0]};
  for (std::string& text : own) arguments.push_back(text.data());
  for (int i = 1; i < argc; ++i) arguments.push_back(argv[i]);  // the last one counts

  utsname system{};
  uname(&system);
  benchmark::AddCustomContext("cpu_model", cpu_model());
  benchmark::AddCustomContext("hardware_threads", std::to_string(std::thread::hardware_concurrency()));
  benchmark::AddCustomContext("kernel", std::string(system.sysname) + " " + system.release);
  benchmark::AddCustomContext("compiler", BERTH_COMPILER);
  benchmark::AddCustomContext("build_type", BERTH_BUILD_TYPE);
  benchmark::AddCustomContext("clock", berth::bench::processor_clock() ? "processor time of the thread" : "wall");
  benchmark::AddCustomContext("load_average_at_start", load_average());

  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
