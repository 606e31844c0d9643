#pragma once

#include <string>
#include <vector>

namespace berth::test {

/// A job of Muri's traces.
struct MuriJob {
  std::string id;
  std::string model;
  int gpus = 0;
  double submit_s = 0;
  double iterations = 0;
  double iteration_ms = 0;  ///< as measured
};

/// The jobs of a trace of Muri, by submission. @throws InputError
std::vector<MuriJob> read_muri_jobs(const std::string& file);

enum class MuriPolicy { kSrtf, kSrsf, kTiresias };

/// What Muri's simulator does beyond its policies. Each can be turned off, to see its effect.
struct MuriHabits {
  double iteration_factor = 1.015;  ///< every iteration takes so many times what was measured
  bool pays_at_each_event = true;   ///< at each event every running job loses the time that a start of its model takes
  bool by_node = true;              ///< srtf, srsf: a job lies on the first node with room, a larger one on idle nodes; else GPUs count
  bool keeps_runners_first = true;  ///< tiresias: in a queue who runs stands before who waits; else by submission, then id
};

struct MuriFigures {
  std::vector<double> jct_s;  ///< ascending
  double mean_s = 0;
  double p99_s = 0;       ///< the value at rank floor(0.99 n) + 1
  double makespan_s = 0;  ///< from 0 to the last end
};

/// Muri's simulator on 8 nodes of 8 GPUs, written again from its rules (github.com/Rivendile/Muri, simulator/, of 2022), in doubles and in
/// its order of operations, so that even its rounding is met. tests/replicas/README.md says what the rules are.
MuriFigures replay_muri(const std::vector<MuriJob>& jobs, MuriPolicy policy, const MuriHabits& habits = {});

}  // namespace berth::test
