#pragma once

#include <cstdint>

namespace berth::test {

/// When an all-reduce may begin beside others on its nodes.
enum class AdaAdmission { kOne, kTwo, kAdaDual };

struct AdaQuestion {
  std::uint64_t seed = 1;
  int scale = 1'000;  ///< jobs have scale to 6 scale iterations and come within 1.2 scale seconds; the paper's is 1,000
  int kappa = 1;      ///< jobs of up to so many GPUs take the GPUs with the least workload, larger ones nodes
  AdaAdmission admission = AdaAdmission::kAdaDual;
  /// To ask what an all-reduce under way has left counts what it sent since it was last looked at, and looking at it then counts the same
  /// again. False: once.
  bool counts_twice = true;
};

/// Mean JCT in units of scale milliseconds, of 160 jobs on 16 nodes of 4 GPUs, in the simulator of Ada-SRSF (Wang et al., arXiv
/// 2002.10105; github.com/HKBU-HPML/dl-scheduling, online/), written again from its rules: milliseconds one by one.
double replay_ada_srsf(const AdaQuestion& question);

}  // namespace berth::test
