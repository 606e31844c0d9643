// Reading a machine's clocks, from synthetic files.
#include "host/cli/bench/bench_machine.hpp"

#include "tests/cli/command.hpp"

namespace berth::test::bench_machine_test {
namespace {

using Texts = std::vector<std::string>;

constexpr const char* kCpus = "sys/devices/system/cpu/";

void write_cpu(const Folder& root, const std::string& name, const std::string& governor, int khz, int throttled) {
  root.write(kCpus + name + "/cpufreq/scaling_governor", governor + "\n");
  root.write(kCpus + name + "/cpufreq/scaling_cur_freq", std::to_string(khz) + "\n");
  root.write(kCpus + name + "/cpufreq/cpuinfo_min_freq", "800000\n");
  root.write(kCpus + name + "/cpufreq/cpuinfo_max_freq", "3000000\n");
  root.write(kCpus + name + "/thermal_throttle/core_throttle_count", std::to_string(throttled) + "\n");
}

}  // namespace

TEST(BenchMachine, ReadsWhatLinuxShows) {
  const Folder root;
  write_cpu(root, "cpu0", "performance", 2'000'000, 3);
  write_cpu(root, "cpu1", "powersave", 3'000'000, 4);
  root.write(std::string(kCpus) + "cpuidle/scaling_governor", "menu\n");
  root.write("proc/loadavg", "1.25 0.50 0.25 1/100 4242\n");
  root.write("proc/stat", "cpu  10 20 30 400 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
  root.write("sys/fs/cgroup/cpu.stat", "usage_usec 12\nthrottled_usec 34\n");
  root.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nflags\t\t: fpu hypervisor sse2\ncpu MHz\t\t: 1234.5\n");
  root.write("proc/meminfo", "MemTotal:       2048 kB\n");

  const cli::ClockReading clocks = cli::read_clocks(root / "");
  const cli::MachineFacts facts = cli::machine_facts(root / "");

  EXPECT_EQ(clocks.governors, (Texts{"performance", "powersave"}));
  EXPECT_EQ(clocks.khz, 2'500'000);
  EXPECT_EQ(clocks.least_khz, 800'000);
  EXPECT_EQ(clocks.most_khz, 3'000'000);
  EXPECT_EQ(clocks.throttled, 7);
  EXPECT_EQ(clocks.load_milli, 1'250);
  EXPECT_EQ(clocks.stolen_ticks, 8);
  EXPECT_EQ(clocks.ticks, 486);
  EXPECT_EQ(clocks.quota_us, 34);
  EXPECT_EQ(cli::clocks_not_shown(clocks), Texts());
  EXPECT_EQ(facts.cpu, "Some CPU @ 2 GHz");
  EXPECT_TRUE(facts.virtual_machine);
  EXPECT_EQ(facts.memory_bytes, 2'048 * 1'024);
}

TEST(BenchMachine, SaysWhatIsNotShown) {
  const Folder root;

  const cli::ClockReading clocks = cli::read_clocks(root / "");

  EXPECT_EQ(cli::clocks_not_shown(clocks),
            (Texts{"governor", "frequency", "thermal throttling", "time taken by the host", "quota", "load"}));
  EXPECT_EQ(cli::clock_warnings(clocks, clocks, 1), Texts());
}

TEST(BenchMachine, AVirtualMachinesStatedClockIsTaken) {
  const Folder root;
  root.write("proc/cpuinfo", "cpu MHz\t\t: 2499.998\n");

  EXPECT_EQ(cli::read_clocks(root / "").khz, 2'499'000);
}

TEST(BenchMachine, WarnsOfAllThatMovedTheClocks) {
  cli::ClockReading before;
  before.governors = {"powersave"};
  before.khz = 3'000'000;
  before.load_milli = 1'001;
  before.throttled = 2;
  before.stolen_ticks = 0;
  before.ticks = 1'000;
  before.quota_us = 0;
  before.fixed_work_s = 0.010;
  cli::ClockReading after = before;

  EXPECT_EQ(cli::clock_warnings(before, after, 4),
            (Texts{"the governor is 'powersave', not 'performance': clocks follow the load",
                   "the load average was 1.0 before the run, on 4 threads: others took time from it"}));

  before.governors.clear();
  before.load_milli = 1'000;
  after.khz = 2'600'000;
  after.throttled = 5;
  after.stolen_ticks = 3;
  after.ticks = 1'100;
  after.quota_us = 1'500'000;
  after.fixed_work_s = 0.011;

  EXPECT_EQ(cli::clock_warnings(before, after, 4),
            (Texts{"the clock was at 3000 MHz before the run and at 2600 MHz after it",
                   "the same arithmetic took 10.0 ms before the run and 11.0 ms after it: the clock or the load has changed",
                   "processors were throttled for heat 3 times during the run",
                   "the host gave 3.0 % of the processors' time to others during the run",
                   "a quota of the control group held processes for 1.5 s during the run"}));
}

}  // namespace berth::test::bench_machine_test
