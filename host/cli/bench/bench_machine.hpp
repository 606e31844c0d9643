#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/core/backend/devices.hpp"

/// The machine of a benchmark, and whether its clocks were steady: times of a throttled machine say little about the
/// code.
namespace berth::cli {

struct MachineFacts {
  std::string cpu;  ///< empty: not shown
  bool virtual_machine = false;
  unsigned threads = 1;
  std::int64_t memory_bytes = 0;  ///< 0: not shown
  std::string compiler;
  bool optimised = true;
  std::vector<core::DeviceInfo> gpus;
  std::string why_no_gpu;
};
/// @param root  before /proc; empty but for tests
MachineFacts machine_facts(const std::string& root = "");

/// The machine's clock data at one instant.
struct ClockReading {
  std::vector<std::string> governors;                 ///< of all processors, each once; empty: not shown
  std::int64_t khz = 0, least_khz = 0, most_khz = 0;  ///< current mean, lowest and highest possible; 0: not shown
  std::int64_t throttled = -1;                        ///< thermal events of all cores and packages so far; -1: not shown
  std::int64_t stolen_ticks = -1, ticks = 0;          ///< processor time that the host gave to others; -1: not shown
  std::int64_t quota_us = -1;                         ///< time for which a quota of the control group stopped its processes; -1: not shown
  std::int64_t load_milli = -1;                       ///< load average of one minute; -1: not shown
  double fixed_work_s = 0;                            ///< of `fixed_work`, the shortest of several
};
/// All except `fixed_work_s`. @param root  before /sys and /proc; empty but for tests
ClockReading read_clocks(const std::string& root = "");

/// Time of a fixed computation on one core: a clock measure for machines that do not show their clock. The shortest of
/// N runs.
double fixed_work(int repetitions);

/// Reasons why times measured between the two may not be those of the code; empty: none found.
std::vector<std::string> clock_warnings(const ClockReading& before, const ClockReading& after, unsigned threads);
/// What this machine does not show: "governor", "frequency", ...
std::vector<std::string> clocks_not_shown(const ClockReading& reading);

}  // namespace berth::cli
