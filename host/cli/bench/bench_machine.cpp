#include "host/cli/bench/bench_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>

namespace berth::cli {
namespace {

constexpr double kMostLoadPart = 0.25;   // of the threads, before the benchmark started
constexpr double kMostClockPart = 0.10;  // between before and after
constexpr double kMostWorkPart = 0.05;
constexpr double kMostStolenPart = 0.01;

std::string first_line(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

// The number at the begin of a line; `absent` when there is none.
std::int64_t number_in(const std::string& text, std::int64_t absent) {
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  return end == text.c_str() ? absent : value;
}

// Files of that name under cpu0, cpu1, ... of a folder of /sys.
std::vector<std::string> of_each_cpu(const std::string& root, const std::string& name) {
  std::vector<std::string> lines;
  std::error_code none;
  for (const auto& cpu : std::filesystem::directory_iterator(root + "/sys/devices/system/cpu", none)) {
    const std::string folder = cpu.path().filename().string();
    if (folder.size() < 4 || folder.compare(0, 3, "cpu") != 0 || folder.find_first_not_of("0123456789", 3) != folder.npos) continue;
    if (std::string line = first_line(cpu.path() / name); !line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

// The rest of a line "NAME<blanks>: REST" or "NAME REST".
std::string field_of(const std::string& path, std::string_view name) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, name.size(), name) != 0) continue;
    const std::size_t from = line.find_first_not_of(" \t:", name.size());
    return from == line.npos ? std::string() : line.substr(from);
  }
  return {};
}

std::int64_t mean_of(const std::vector<std::string>& lines) {
  std::int64_t sum = 0;
  for (const std::string& line : lines) sum += number_in(line, 0);
  return lines.empty() ? 0 : sum / static_cast<std::int64_t>(lines.size());
}

std::int64_t sum_of_counters(const std::string& root) {
  std::int64_t sum = 0;
  bool shown = false;
  for (const char* name : {"thermal_throttle/core_throttle_count", "thermal_throttle/package_throttle_count"}) {
    for (const std::string& line : of_each_cpu(root, name)) {
      sum += number_in(line, 0);
      shown = true;
    }
  }
  return shown ? sum : -1;
}

// user nice system idle iowait irq softirq steal; guest times after them are part of user already.
void read_ticks(const std::string& root, ClockReading& reading) {
  std::istringstream in(field_of(root + "/proc/stat", "cpu "));
  std::int64_t value = 0;
  for (int column = 0; column < 8 && in >> value; ++column) {
    reading.ticks += value;
    if (column == 7) reading.stolen_ticks = value;
  }
}

double apart(double before, double after) { return before > 0 && after > 0 ? std::abs(after - before) / before : 0; }

}  // namespace

MachineFacts machine_facts(const std::string& root) {
  MachineFacts facts;
  facts.cpu = field_of(root + "/proc/cpuinfo", "model name");
  facts.virtual_machine = (" " + field_of(root + "/proc/cpuinfo", "flags") + " ").find(" hypervisor ") != std::string::npos;
  facts.threads = std::max(1u, std::thread::hardware_concurrency());
  facts.memory_bytes = number_in(field_of(root + "/proc/meminfo", "MemTotal"), 0) * 1024;
#if defined(__clang__)
  facts.compiler = "clang " __clang_version__;
#else
  facts.compiler = "g++ " __VERSION__;
#endif
#ifndef __OPTIMIZE__
  facts.optimised = false;
#endif
  facts.gpus = core::list_devices(facts.why_no_gpu);
  return facts;
}

ClockReading read_clocks(const std::string& root) {
  ClockReading reading;
  reading.governors = of_each_cpu(root, "cpufreq/scaling_governor");
  std::sort(reading.governors.begin(), reading.governors.end());
  reading.governors.erase(std::unique(reading.governors.begin(), reading.governors.end()), reading.governors.end());
  reading.khz = mean_of(of_each_cpu(root, "cpufreq/scaling_cur_freq"));
  reading.least_khz = mean_of(of_each_cpu(root, "cpufreq/cpuinfo_min_freq"));
  reading.most_khz = mean_of(of_each_cpu(root, "cpufreq/cpuinfo_max_freq"));
  // In a virtual machine this may be the host's nominal clock; better than nothing.
  if (reading.khz == 0) reading.khz = number_in(field_of(root + "/proc/cpuinfo", "cpu MHz"), 0) * 1000;
  reading.throttled = sum_of_counters(root);
  read_ticks(root, reading);
  reading.quota_us = number_in(field_of(root + "/sys/fs/cgroup/cpu.stat", "throttled_usec"), -1);
  const std::string load = first_line(root + "/proc/loadavg");
  if (!load.empty()) reading.load_milli = std::llround(1000 * std::strtod(load.c_str(), nullptr));
  return reading;
}

double fixed_work(int repetitions) {
  using Clock = std::chrono::steady_clock;
  double least = 0;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const Clock::time_point begin = Clock::now();
    std::uint64_t x = static_cast<std::uint64_t>(repetition) + 1;
    // Each product depends on the one before, so the time is in cycles, whatever the width of the core.
    for (int i = 0; i < (1 << 23); ++i) x = x * 6364136223846793005u + 1442695040888963407u;
    volatile std::uint64_t kept = x;
    (void)kept;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    least = repetition == 0 ? seconds : std::min(least, seconds);
  }
  return least;
}

std::vector<std::string> clock_warnings(const ClockReading& before, const ClockReading& after, unsigned threads) {
  std::vector<std::string> warnings;
  const auto warn = [&](std::string text) { warnings.push_back(std::move(text)); };
  for (const std::string& governor : before.governors) {
    if (governor != "performance") warn(fmt::format("the governor is '{}', not 'performance': clocks follow the load", governor));
  }
  const double load = static_cast<double>(before.load_milli) / 1000;
  if (load > kMostLoadPart * threads) {
    warn(fmt::format("the load average was {:.1f} before the run, on {} threads: others took time from it", load, threads));
  }
  if (apart(static_cast<double>(before.khz), static_cast<double>(after.khz)) > kMostClockPart) {
    warn(fmt::format("the clock was at {} MHz before the run and at {} MHz after it", before.khz / 1000, after.khz / 1000));
  }
  if (apart(before.fixed_work_s, after.fixed_work_s) > kMostWorkPart) {
    warn(fmt::format("the same arithmetic took {:.1f} ms before the run and {:.1f} ms after it: the clock or the load has changed",
                     1e3 * before.fixed_work_s, 1e3 * after.fixed_work_s));
  }
  if (before.throttled >= 0 && after.throttled > before.throttled) {
    warn(fmt::format("processors were throttled for heat {} times during the run", after.throttled - before.throttled));
  }
  const auto ticks = static_cast<double>(after.ticks - before.ticks);
  const auto stolen = static_cast<double>(after.stolen_ticks - before.stolen_ticks);
  if (before.stolen_ticks >= 0 && ticks > 0 && stolen > kMostStolenPart * ticks) {
    warn(fmt::format("the host gave {:.1f} % of the processors' time to others during the run", 100 * stolen / ticks));
  }
  if (before.quota_us >= 0 && after.quota_us > before.quota_us) {
    warn(fmt::format("a quota of the control group held processes for {:.1f} s during the run",
                     static_cast<double>(after.quota_us - before.quota_us) / 1e6));
  }
  return warnings;
}

std::vector<std::string> clocks_not_shown(const ClockReading& reading) {
  std::vector<std::string> names;
  if (reading.governors.empty()) names.emplace_back("governor");
  if (reading.khz == 0) names.emplace_back("frequency");
  if (reading.throttled < 0) names.emplace_back("thermal throttling");
  if (reading.stolen_ticks < 0) names.emplace_back("time taken by the host");
  if (reading.quota_us < 0) names.emplace_back("quota");
  if (reading.load_milli < 0) names.emplace_back("load");
  return names;
}

}  // namespace berth::cli
