// The figures of tests/replicas/README.md and docs/validation.md:
//   berth_replicas muri TRACE.csv[.gz]...
//   berth_replicas ada-srsf SCALE SEED...
//   berth_replicas shockwave TRACE THROUGHPUTS
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/replicas/ada_srsf.hpp"
#include "tests/replicas/muri.hpp"
#include "tests/replicas/shockwave.hpp"

namespace berth::test {
namespace {

void show_muri(const std::string& file) {
  const std::vector<MuriJob> jobs = read_muri_jobs(file);
  const auto row = [&](const char* policy, const char* habits, const MuriFigures& figures) {
    fmt::print("{} {} {}: mean {:.3f} p99 {:.3f} makespan {:.3f}\n", file, policy, habits, figures.mean_s, figures.p99_s,
               figures.makespan_s);
  };
  for (const auto& [name, policy] :
       {std::pair{"srtf", MuriPolicy::kSrtf}, {"srsf", MuriPolicy::kSrsf}, {"tiresias", MuriPolicy::kTiresias}}) {
    MuriHabits habits;
    row(name, "as theirs", replay_muri(jobs, policy, habits));
    habits.iteration_factor = 1;
    row(name, "+ iterations as measured", replay_muri(jobs, policy, habits));
    habits.pays_at_each_event = false;
    row(name, "+ no job pays", replay_muri(jobs, policy, habits));
    habits.by_node = habits.keeps_runners_first = false;
    row(name, "+ by counts, queues by submission", replay_muri(jobs, policy, habits));
  }
}

void show_ada_srsf(int scale, std::uint64_t seed) {
  const auto mean = [&](AdaAdmission admission, bool twice) { return replay_ada_srsf({seed, scale, 1, admission, twice}); };
  fmt::print("seed {}: one {:.0f} two {:.0f} adadual {:.0f} adadual counting once {:.0f}\n", seed, mean(AdaAdmission::kOne, false),
             mean(AdaAdmission::kTwo, false), mean(AdaAdmission::kAdaDual, true), mean(AdaAdmission::kAdaDual, false));
}

void show_shockwave(const std::vector<std::string>& files) {
  const std::vector<ShockwaveJob> jobs = read_shockwave_jobs(files);
  const auto row = [&](ShockwavePolicy policy, const char* habits_text, const ShockwaveHabits& habits) {
    const ShockwaveFigures figures = replay_shockwave(jobs, policy, habits);
    fmt::print("{}, {}: mean {:.1f} makespan {:.1f}\n", policy == ShockwavePolicy::kAllox ? "allox" : "max-sum", habits_text,
               figures.mean_s, figures.makespan_s);
  };
  for (const ShockwavePolicy policy : {ShockwavePolicy::kAllox, ShockwavePolicy::kMaxSum}) {
    ShockwaveHabits habits;
    row(policy, "as theirs", habits);
    habits.between_allocations_s = 0;
    row(policy, "+ an allocation whenever jobs change", habits);
    habits.start_s = 0;
    row(policy, "+ no job pays", habits);
    habits.counts_steps = false;
    if (policy == ShockwavePolicy::kMaxSum) row(policy, "+ speeds instead of steps", habits);
  }
}

}  // namespace
}  // namespace berth::test

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() > 1 && words[0] == "muri") {
    for (std::size_t i = 1; i < words.size(); ++i) berth::test::show_muri(words[i]);
  } else if (words.size() > 2 && words[0] == "ada-srsf") {
    for (std::size_t i = 2; i < words.size(); ++i) berth::test::show_ada_srsf(std::stoi(words[1]), std::stoull(words[i]));
  } else if (words.size() == 3 && words[0] == "shockwave") {
    berth::test::show_shockwave({words[1], words[2]});
  } else {
    fmt::print(stderr, "usage: {0} muri TRACE...\n       {0} ada-srsf SCALE SEED...\n       {0} shockwave TRACE THROUGHPUTS\n", argv[0]);
    return 2;
  }
  return 0;
}
